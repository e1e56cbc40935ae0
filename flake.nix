{
  description = "An operator's console for coding agents";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = nixpkgs.lib.genAttrs systems;
      manifest = builtins.fromTOML (builtins.readFile ./Cargo.toml);
    in
    {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = manifest.package.name;
            version = manifest.workspace.package.version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            # The tests need terminals, agents and other users: run them outside the sandbox, with `cargo test`.
            doCheck = false;
            postInstall = ''
              $out/bin/pilothouse man --folder man1
              installManPage man1/*.1
              installShellCompletion --cmd pilothouse \
                --bash <($out/bin/pilothouse completions bash) \
                --zsh <($out/bin/pilothouse completions zsh) \
                --fish <($out/bin/pilothouse completions fish)
            '';
            meta = {
              description = manifest.package.description;
              license = with pkgs.lib.licenses; [ mit asl20 ];
              platforms = systems;
              mainProgram = "pilothouse";
            };
          };
        });

      devShells = each (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in { default = pkgs.mkShell { packages = with pkgs; [ cargo rustc clippy rustfmt tmux ]; }; });
    };
}
