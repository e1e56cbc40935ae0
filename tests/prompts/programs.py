"""The programs of `run.py`, as data.

A row of `ASK`: its name; where it comes from (a package of Debian; `next:` of its next release; `pip:`, `npm:`; `cmd:` and what prints its version; ` root`: it
runs as root, the others as an ordinary user); the command that makes it ask; words of its question; what a terminal of its own
should be reported as: `secret`, `line`, `key`, or `text`, which is typed in raw mode and may be a `line` or a `key`; with `?`,
likely is enough. `$PORT` is free.
"""

# Functions for the commands. HOME and the working directory are an empty folder.
SETUP = r"""
js() { ln -sf "$CACHE/node_modules" .; node --input-type=module -e "$1"; }
py() { python -W ignore -c "$1"; }
sshd() { ssh-keygen -qN '' -f hk; ssh-keygen -qN '' -f k; printf 'Port %s\nUserKnownHostsFile kh\nStrictHostKeyChecking %s\n' $PORT ${1:-no} >c
  /usr/sbin/sshd -f /dev/null -p $PORT -h $PWD/hk -o UsePAM=no -o StrictModes=no -o AuthorizedKeysFile=$PWD/k.pub -o PidFile=none \
  -o Subsystem="sftp internal-sftp"; sleep 1; }
www() { python -c 'import http.server as h,sys
class A(h.BaseHTTPRequestHandler):
    def do_GET(s): s.send_response(401); s.send_header("WWW-Authenticate", "Basic realm=x"); s.send_header("Content-Length", "0"); s.end_headers()
    do_PUT = do_POST = do_OPTIONS = do_PROPFIND = do_GET
    def log_message(s, *a): pass
h.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), A).serve_forever()' $PORT & sleep 1.5; }
pin() { mkdir -pm700 .gnupg; echo "pinentry-program /usr/bin/pinentry-$1" >.gnupg/gpg-agent.conf; export GPG_TTY=${GPG_TTY:-$(tty)}; echo x >f; }
repo() { git init -q .; git config user.email a@b; git config user.name a; echo a >f; git add f; git commit -qm x; echo b >f; }
sdist() { mkdir -p d/x-1; printf 'Metadata-Version: 2.1\nName: x\nVersion: 1\n' >d/x-1/PKG-INFO; tar -C d -czf d/x-1.tar.gz x-1; rm -r d/x-1; }
dbc() { printf 'Config: c\nTemplates: t\n\nName: c\nDriver: File\nFilename: %s/c.dat\n\nName: t\nDriver: File\nFilename: %s/t.dat\n' $PWD $PWD >rc
  printf 'Template: o/q\nType: %s\nDescription: Your %s?\n Long words.\n' "$2" "$2" >t
  printf '#!/bin/sh\n. /usr/share/debconf/confmodule\ndb_x_loadtemplatefile %s/t o\ndb_input high o/q\ndb_go\n' $PWD >s; chmod +x s
  DEBCONF_SYSTEMRC=rc debconf -f$1 ./s; }
nm() { export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$PWD/bus; mkdir -p /run/NetworkManager; printf '[main]\nauth-polkit=false\ndns=none\n' >nm.conf
  unshare -nm bash -c 'mount -t tmpfs none /run/NetworkManager; dbus-daemon --session --nofork --nopidfile --address=$DBUS_SYSTEM_BUS_ADDRESS &
  NetworkManager --no-daemon --config=nm.conf --state-file=st --pid-file=pid >log 2>&1 & sleep 3; nmtui'; }
"""

ASK = [
    ("openssl enc", "openssl", "echo x >f; openssl enc -aes-256-cbc -pbkdf2 -in f -out o", "encryption password", "secret"),
    ("openssl genrsa", "openssl", "openssl genrsa -aes256 -out o 2048", "pass phrase", "secret"),
    ("openssl passwd", "openssl", "openssl passwd -6", "Password", "secret"),
    ("openssl req", "openssl", "openssl req -new -nodes -newkey rsa:2048 -keyout o", "Country Name", "line"),
    ("ssh-keygen passphrase", "openssh-client", "ssh-keygen -q -f k", "Enter passphrase", "secret"),
    ("ssh-keygen file", "openssh-client", "ssh-keygen -q", "Enter file", "line"),
    ("ssh-add", "openssh-client", "ssh-keygen -qN secret -f k; ssh-agent ssh-add k", "Enter passphrase", "secret"),
    ("ssh host key", "openssh-server", "sshd ask; ssh -F c localhost", "continue connecting", "line"),
    ("ssh password", "openssh-server", "sshd; ssh -F c localhost", "password:", "secret"),
    ("ssh -t, inner line", "openssh-server root", "sshd; ssh -F c -i k -t localhost 'read -p \"Name: \" x'", "Name:", "text?"),
    ("ssh -t, inner password", "openssh-server root", "sshd; ssh -F c -i k -t localhost 'read -sp \"Password: \" x'", "Password:", "secret?"),
    ("scp", "openssh-server", "sshd; scp -F c hk localhost:x", "password:", "secret"),
    ("sftp", "openssh-server root", "sshd; sftp -F c -i k localhost", "sftp>", "text?"),
    ("rsync over ssh", "rsync", "sshd; rsync -e 'ssh -F c' hk localhost:x", "password:", "secret"),
    ("git user over http", "git", "www; git ls-remote http://127.0.0.1:$PORT/x", "Username for", "line"),
    ("git password over http", "git", "www; git -c credential.username=me ls-remote http://127.0.0.1:$PORT/x", "Password for", "secret"),
    ("git add -p", "git", "repo; git add -p", "Stage this hunk", "line"), ("git clean -i", "git", "repo; touch g; git clean -i", "What now", "line"),
    ("git commit in nano", "nano", "repo; GIT_EDITOR=nano git commit -a", "", "key?"),
    ("git mergetool", "git", "repo; git checkout -qb o; git commit -qam o; git checkout -q -; echo c >f; git commit -qam c; git merge -q o; "
     "git -c mergetool.prompt=true -c merge.tool=vimdiff mergetool", "Hit return", "line"),
    ("git send-email", "git-email", "repo; git format-patch -1 -q --root; git send-email 0001*", "To whom", "text?"),
    ("sudo", "sudo", "sudo true", "password for", "secret"), ("su", "util-linux", "su -c true", "Password:", "secret"),
    ("doas", "doas", "doas -C /dev/null true; doas true", "password", "secret"), ("passwd", "passwd", "passwd", "Current password", "secret"),
    ("chsh", "passwd", "chsh", "Password:", "secret"), ("chfn", "passwd", "chfn", "Password:", "secret"),
    ("sudo-rs", "next:sudo-rs", "$CACHE/next/usr/lib/cargo/bin/sudo true", "assword", "secret?"), ("run0", "run0", "run0 true", "assword", "secret"),
    ("pkttyagent with pkexec", "apt:dbus apt:polkitd apt:pkexec", "pkttyagent --process $$ & sleep 2; pkexec true", "Password:", "secret"),
    ("visudo, syntax error", "sudo root", "echo bad >s; EDITOR=/bin/true visudo -f s", "What now?", "line"),
    ("visudo in nano", "nano root", "EDITOR=/usr/bin/nano visudo -f s", "", "key?"),
    ("adduser password", "adduser root", "adduser --gecos x --no-create-home asks$PORT", "New password:", "secret"),
    ("adduser full name", "adduser root", "adduser --disabled-password --no-create-home asks$PORT", "Full Name", "line"),
    ("chage", "passwd root", "chage nobody", "Minimum Password Age", "line"),
    ("debconf readline", "debconf", "dbc readline string", "Your string?", "text?"),
    ("debconf readline password", "debconf", "dbc readline password", "Your password?", "secret?"),
    ("debconf dialog", "whiptail", "dbc dialog boolean", "Your boolean?", "key?"),
    ("debconf dialog password", "whiptail", "dbc dialog password", "Your password?", "secret?"),
    ("apt", "apt root", "apt-get -o Debug::NoLocking=1 install cowsay fortune-mod", "Do you want to continue?", "line"),
    ("dpkg conffile", "dpkg root", "mkdir -p r/var/lib/dpkg/{info,updates} p/DEBIAN p/etc; touch r/var/lib/dpkg/status; "
     "printf 'Package: p\\nVersion: 1\\nArchitecture: all\\nMaintainer: x <x@y>\\nDescription: x\\n' >p/DEBIAN/control; "
     "echo /etc/p >p/DEBIAN/conffiles; echo 1 >p/etc/p; dpkg-deb -b p p.deb >q; dpkg --root=r -i p.deb >q; echo 3 >r/etc/p; echo 2 >p/etc/p; "
     "sed -i s/1/2/ p/DEBIAN/control; dpkg-deb -b p p.deb >q; dpkg --root=r -i p.deb", "default=N", "line"),
    ("update-alternatives", "dpkg root", "update-alternatives --config editor", "Press <enter>", "line"),
    ("select-editor", "sensible-utils", "select-editor", "Choose 1-", "line"), ("rm -i", "coreutils", "touch f; rm -i f", "remove", "line"),
    ("cp -i", "coreutils", "touch f g; cp -i f g", "overwrite", "line"), ("find -ok", "findutils", "touch f; find f -ok rm {} \\;", "< rm", "line"),
    ("xargs -p", "findutils", "echo a | xargs -p echo", "echo a", "line"), ("tar -w", "tar", "touch f; tar -cwf o f", "add", "line"),
    ("patch", "patch", "repo; git diff >d; mv f g; sed -i /^diff/d\\;s/f$/z/ d; patch <d", "File to patch", "line"),
    ("gzip", "gzip", "touch f f.gz; gzip f", "overwrite", "line"), ("zstd", "zstd", "touch f f.zst; zstd f", "overwrite", "line"),
    ("zip", "zip", "touch f; zip -e o.zip f", "Enter password", "secret"),
    ("unzip password", "apt:zip apt:unzip", "echo x >f; zip -qP x o.zip f; rm f; unzip o.zip", "password", "secret"),
    ("unzip replace", "apt:zip apt:unzip", "echo x >f; zip -q o.zip f; unzip o.zip", "replace f", "line"),
    ("7z", "p7zip-full", "echo x >f; 7z a -p o.7z f", "Enter password", "secret"),
    ("ccrypt", "ccrypt", "echo x >f; ccrypt f", "Enter encryption key", "secret"),
    ("scrypt", "scrypt", "echo x >f; scrypt enc f o", "passphrase", "secret"), ("age", "age", "echo x >f; age -p -o o f", "passphrase", "secret"),
    ("minisign", "minisign", "minisign -G", "Password:", "secret"),
    ("signify", "signify-openbsd", "signify-openbsd -G -p k.pub -s k.sec", "passphrase", "secret"),
    ("gpg, pinentry-tty", "pinentry-tty", "pin tty; gpg -c f", "Passphrase", "secret"),
    ("gpg, pinentry-curses", "pinentry-curses", "pin curses; gpg -c f", "Passphrase", "secret?"),
    ("gpg --gen-key", "gnupg", "gpg --gen-key", "Real name", "text?"),
    ("gpg --full-gen-key", "gnupg", "gpg --full-gen-key", "Your selection?", "text?"),
    ("pass", "pass", "gpg -q --batch --passphrase '' --quick-gen-key me; pass init me; pass insert x", "Enter password for x", "secret"),
    ("keepassxc-cli", "keepassxc", "QT_QPA_PLATFORM=offscreen keepassxc-cli db-create -p d.kdbx", "Enter password", "secret"),
    ("kpcli", "kpcli", "kpcli", "kpcli:/>", "text?"),
    ("cryptsetup confirm", "cryptsetup-bin", "truncate -s 40M f; cryptsetup luksFormat f", "Are you sure", "line"),
    ("cryptsetup passphrase", "cryptsetup-bin", "truncate -s 40M f; cryptsetup -q luksFormat f", "Enter passphrase", "secret"),
    ("gocryptfs", "gocryptfs", "mkdir d; gocryptfs -init d", "Password:", "secret"),
    ("restic", "restic", "restic init -r r", "enter password", "secret"),
    ("borg", "borgbackup", "borg init -e repokey r", "Enter new passphrase", "secret"),
    ("duplicity", "duplicity", "mkdir d; duplicity full d file://$PWD/x", "GnuPG passphrase", "secret"),
    ("rclone", "rclone", "rclone config", "n/s/q", "line"),
    ("ansible-vault", "pip:ansible-core", "echo x >f; ansible-vault encrypt f", "New Vault password", "secret"),
    ("keytool password", "cmd:java -version", "keytool -genkeypair -alias a -keyalg RSA -keystore k", "keystore password", "secret"),
    ("keytool name", "cmd:java -version", "keytool -genkeypair -alias a -keyalg RSA -keystore k -storepass secret", "first and last name", "line"),
    ("jshell", "cmd:java -version", "jshell", "jshell>", "text?"), ("psql", "postgresql-client", "psql -W -h 127.0.0.1 -p 1", "Password:", "secret"),
    ("mariadb", "mariadb-client", "mariadb -h 127.0.0.1 -p", "Enter password", "secret"),
    ("redis-cli", "redis-tools", "redis-cli --askpass", "input password", "secret"), ("sqlite3", "sqlite3", "sqlite3", "sqlite>", "text?"),
    ("smbpasswd", "samba-common-bin", "smbpasswd", "Old SMB password", "secret"),
    ("ldapsearch", "ldap-utils", "ldapsearch -x -D cn=x -W", "Enter LDAP Password", "secret"),
    ("htpasswd", "apache2-utils", "htpasswd -c f me", "New password", "secret"), ("mkpasswd", "whois", "mkpasswd", "Password:", "secret"),
    ("certtool", "gnutls-bin", "certtool --generate-privkey --outfile k 2>q; certtool --generate-request --load-privkey k", "Country name", "line"),
    ("curl -u", "curl", "curl -u me http://127.0.0.1:1", "Enter host password", "secret"),
    ("wget --ask-password", "wget", "wget --user me --ask-password http://127.0.0.1:1", "Password for", "secret"),
    ("fetchmail", "fetchmail", "fetchmail -p pop3 -u me localhost", "Enter password", "secret"),
    ("openvpn", "openvpn", "openvpn --client --dev tun --remote 127.0.0.1 --auth-user-pass --ca /etc/ssl/certs/ca-certificates.crt", "Enter Auth "
     "Username", "line"),
    ("lftp password", "lftp", "lftp -u me 127.0.0.1", "Password:", "secret"), ("lftp", "lftp", "lftp", "lftp :~>", "text?"),
    ("cadaver", "cadaver", "cadaver", "dav:!>", "text?"), ("telnet", "inetutils-telnet", "telnet", "telnet>", "line"),
    ("hg over http", "mercurial", "www; hg clone http://127.0.0.1:$PORT/x", "user:", "text?"),
    ("svn over http", "subversion", "www; svn ls --username me http://127.0.0.1:$PORT/x", "Password for", "secret"),
    ("at", "at", "at now", "at>", "line"), ("crontab -r -i", "cron", "echo '0 0 1 1 * true' | crontab -; crontab -r -i", "really delete", "line"),
    ("mail", "bsd-mailx", "mail root", "Subject:", "text?"), ("systemd-ask-password", "systemd", "systemd-ask-password", "Password:", "secret?"),
    ("systemd-firstboot", "systemd root", "mkdir r; systemd-firstboot --root=$PWD/r --prompt", "Press any key", "key?"),
    ("certbot", "certbot", "certbot certonly --standalone --config-dir c --work-dir w --logs-dir l", "", "line?"),
    ("task", "taskwarrior", "task", "yes/no", "line"), ("trash-restore", "trash-cli", "touch f; trash-put f; trash-restore", "What file to restore", "line"),
    ("mke2fs", "e2fsprogs", "truncate -s 9M f; mke2fs -q f; mke2fs f", "Proceed anyway", "line"),
    ("e2fsck", "e2fsprogs", "truncate -s 9M f; mke2fs -q f; debugfs -w -R 'clri <2>' f 2>q; e2fsck -f f", "<y>", "key?"),
    ("fdisk", "fdisk", "truncate -s 9M f; /sbin/fdisk f", "Command (m for help)", "text?"),
    ("cfdisk", "fdisk", "truncate -s 9M f; /sbin/cfdisk f", "Select label type", "key?"),
    ("gdisk", "gdisk", "truncate -s 9M f; /sbin/gdisk f", "Command (? for help)", "text?"),
    ("parted", "parted", "truncate -s 9M f; /sbin/parted f", "(parted)", "text?"),
    ("podman login", "apt:uidmap apt:podman", "podman login localhost:1", "Username:", "line"),
    ("skopeo login", "skopeo", "skopeo login localhost:1", "Username:", "line"),
    ("skopeo login, password", "skopeo", "skopeo login -u me localhost:1", "Password:", "secret"),
    ("docker login", "cmd:docker --version", "docker login -u me localhost:1", "Password:", "secret"),
    ("gh auth login", "gh", "gh auth login", "What account", "key?"),
    ("gcloud init", "cmd:gcloud --version", "gcloud init --skip-diagnostics", "", "line"),
    ("terraform plan", "cmd:terraform --version", "echo 'variable \"x\" {}' >m.tf; terraform plan", "Enter a value", "line"),
    ("aws configure", "pip:awscli", "aws configure", "AWS Access Key ID", "line"),
    ("cargo login", "cmd:cargo --version root", "RUSTUP_HOME=/root/.rustup CARGO_HOME=$PWD cargo login", "paste the token", "line"), 
    ("lazygit", "next:lazygit", "repo; lazygit", "", "key?"), ("gum input", "next:gum", "gum input --prompt 'Name: '", "Name:", "text?"),
    ("gum choose", "next:gum", "gum choose --header 'Pick one' a b", "Pick one", "key?"),
    ("gum confirm", "next:gum", "gum confirm 'Go on?'", "Go on?", "key?"),
    ("gum password", "next:gum", "gum input --password --prompt 'Password: '", "Password:", "secret?"),
    ("keyring", "pip:keyrings.alt pip:keyring", "keyring -b keyrings.alt.file.PlaintextKeyring set a b", "Password for", "secret"),
    ("twine", "pip:twine", "sdist; twine upload --repository-url http://127.0.0.1:1 d/*", "Enter your username", "line"),
    ("uv publish", "pip:uv", "sdist; uv publish --publish-url http://127.0.0.1:1 d/*", "username", "text?"),
    ("uv auth login", "pip:uv", "uv auth login 127.0.0.1", "", "text?"), ("poetry init", "pip:poetry", "poetry init", "Package name", "line"),
    ("commitizen", "pip:commitizen", "repo; git add f; cz commit", "Select the type", "key?"),
    ("cookiecutter", "pip:cookiecutter", 'mkdir -p t/{{cookiecutter.a}}; echo \'{"a": "b"}\' >t/cookiecutter.json; '
     'cookiecutter ./t', "a (b)", "line"),
    ("copier", "pip:copier", "mkdir t; echo 'a: {type: str}' >t/copier.yml; copier copy ./t o", "a", "text?"),
    ("pip uninstall", "pip:click", "pip uninstall click", "Proceed", "line"),
    ("click prompt", "pip:click", "py 'import click; click.prompt(\"Your name\")'", "Your name", "line"),
    ("click password", "pip:click", "py 'import click; click.prompt(\"Password\", hide_input=True)'", "Password", "secret"),
    ("click pause", "pip:click", "py 'import click; click.pause()'", "Press any key", "key?"),
    ("rich prompt", "pip:rich", "py 'from rich.prompt import Prompt; Prompt.ask(\"Your name\")'", "Your name", "line"),
    ("prompt_toolkit", "pip:prompt_toolkit", "py 'from prompt_toolkit import prompt; prompt(\"name> \")'", "name>", "text?"),
    ("questionary text", "pip:questionary", "py 'import questionary; questionary.text(\"Your name\").ask()'", "Your name", "text?"),
    ("questionary select", "pip:questionary", 'py \'import questionary; questionary.select("Pick", choices=["a","b"]).ask()\'', "Pick", "key?"),
    ("questionary password", "pip:questionary", "py 'import questionary; questionary.password(\"Password\").ask()'", "Password", "secret?"),
    ("InquirerPy", "pip:InquirerPy", 'py \'from InquirerPy import inquirer as i; i.select("Pick", ["a","b"]).execute()\'', "Pick", "key?"),
    ("inquirer.py list", "pip:inquirer", 'py \'import inquirer as i; '
     'i.prompt([i.List("s", message="What size?", choices=["L","M"])])\'', "What size?", "key?"),
    ("inquirer.py password", "pip:inquirer", 'py \'import inquirer as i; i.prompt([i.Password("s", message="Password")])\'', "Password", "secret?"),
    ("pwinput", "pip:pwinput", "py 'import pwinput; pwinput.pwinput(\"Password: \")'", "Password:", "secret"),
    ("stdiomask", "pip:stdiomask", "py 'import stdiomask; stdiomask.getpass()'", "Password:", "secret"),
    ("beaupy", "pip:beaupy", 'py \'import beaupy; print("Pick one"); beaupy.select(["a","b"])\'', "Pick one", "key?"),
    ("simple-term-menu", "pip:simple-term-menu", 'py \'import simple_term_menu as m; '
     'm.TerminalMenu(["a","b"], title="Pick").show()\'', "Pick", "key?"),
    ("pick", "pip:pick", 'py \'import pick; pick.pick(["a","b"], "Pick one")\'', "Pick one", "key?"),
    ("textual", "pip:textual", "py 'from textual.app import App\nfrom textual.widgets import Input\nclass A(App):\n def compose(s): yield "
     "Input()\nA().run()'", "", "key?"),
    ("visidata", "pip:visidata", "echo a,b >f.csv; vd f.csv", "", "key?"), ("ipython", "pip:ipython", "ipython", "In [1]:", "text?"),
    ("ptpython", "pip:ptpython", "ptpython", "", "text?"), ("python input", "python3", "/usr/bin/python3 -c 'input(\"name? \")'", "name?", "line"),
    ("python getpass", "python3", "/usr/bin/python3 -c 'import getpass; getpass.getpass()'", "Password:", "secret"),
    ("python input in a thread", "python3", "/usr/bin/python3 -c 'import asyncio; "
     "asyncio.run(asyncio.to_thread(input, \"name? \"))'", "name?", "line"),
    ("python REPL", "python3", "/usr/bin/python3", "", "text?"),
    ("python 3.13 REPL", "cmd:/root/.pyenv/versions/3.13.0/bin/python3 -V root", "/root/.pyenv/versions/3.13.0/bin/python3", "", "text?"),
    ("pdb", "python3", "echo 1 >f; /usr/bin/python3 -m pdb f", "(Pdb)", "text?"),
    ("npm init", "cmd:npm --version", "npm init", "package name", "text?"),
    ("npm login", "cmd:npm --version", "npm login --auth-type=legacy --registry http://127.0.0.1:1", "Username:", "text?"),
    ("npx install", "cmd:npm --version", "npx cowsay x", "Ok to proceed", "text?"), ("yarn init", "npm:yarn", "yarn init", "question name", "text?"),
    ("yarn login", "npm:yarn", "yarn login", "npm username", "text?"),
    ("pnpm", "npm:pnpm", 'mkdir p; cd p; echo \'{"dependencies":{"is-odd":"1.0.0"}}\' >package.json; pnpm install --silent; '
     'pnpm update -i --latest', "", "key?"),
    ("create-vite", "npm:create-vite", "create-vite", "Project name", "text?"),
    ("release-it", "npm:release-it", 'repo; echo \'{"name":"x","version":"1.0.0"}\' >package.json; git add .; git commit -qm y; '
     'git init -q --bare o; git remote add origin $PWD/o; git push -qu origin HEAD; release-it --no-npm', "", "key?"),
    ("node REPL", "cmd:node --version", "node", "", "text?"),
    ("node readline", "cmd:node --version", 'js \'import r from "readline"; '
     'r.createInterface(process.stdin, process.stdout).question("Your name? ", () => {})\'', "Your name?", "text?"),
    ("@inquirer/prompts input", "npm:@inquirer/prompts", 'js \'import * as p from "@inquirer/prompts"; '
     'p.input({message: "Your name"})\'', "Your name", "text?"),
    ("@inquirer/prompts select", "npm:@inquirer/prompts", 'js \'import * as p from "@inquirer/prompts"; '
     'p.select({message: "Pick", choices: ["a", "b"]})\'', "Pick", "key?"),
    ("@inquirer/prompts password", "npm:@inquirer/prompts", 'js \'import * as p from "@inquirer/prompts"; '
     'p.password({message: "Password"})\'', "Password", "secret?"),
    ("inquirer", "npm:inquirer", 'js \'import p from "inquirer"; p.prompt([{type: "confirm", name: "a", message: "Go on?"}])\'', "Go on?", "text?"),
    ("clack text", "npm:@clack/prompts", 'js \'import * as p from "@clack/prompts"; p.text({message: "Your name"})\'', "Your name", "text?"),
    ("clack select", "npm:@clack/prompts", 'js \'import * as p from "@clack/prompts"; p.select({message: "Pick", options: [{value: 1, label: "a"},'
     ' {value: 2, label: "b"}]})\'', "Pick", "key?"),
    ("clack password", "npm:@clack/prompts", 'js \'import * as p from "@clack/prompts"; '
     'p.password({message: "Your password"})\'', "Your password", "secret?"),
    ("enquirer input", "npm:enquirer", 'js \'import e from "enquirer"; new e.Input({message: "Your name"}).run()\'', "Your name", "text?"),
    ("enquirer select", "npm:enquirer", 'js \'import e from "enquirer"; '
     'new e.Select({message: "Pick", choices: ["a", "b"]}).run()\'', "Pick", "key?"),
    ("enquirer password", "npm:enquirer", 'js \'import e from "enquirer"; new e.Password({message: "Password"}).run()\'', "Password", "secret?"),
    ("prompts text", "npm:prompts", 'js \'import p from "prompts"; p({type: "text", name: "a", message: "Your name"})\'', "Your name", "text?"),
    ("prompts select", "npm:prompts", 'js \'import p from "prompts"; p({type: "select", name: "a", message: "Pick", choices: [{title: "a"},'
     ' {title: "b"}]})\'', "Pick", "key?"),
    ("prompts password", "npm:prompts", 'js \'import p from "prompts"; '
     'p({type: "password", name: "a", message: "Password"})\'', "Password", "secret?"),
    ("read (npm)", "npm:read", 'js \'import {read} from "read"; read({prompt: "Password: ", silent: true})\'', "Password:", "secret?"),
    ("readline-sync", "npm:readline-sync", 'js \'import r from "readline-sync"; r.question("Password: ",'
     ' {hideEchoBack: true})\'', "Password:", "secret"),
    ("prompt-sync", "npm:prompt-sync", 'js \'import p from "prompt-sync"; p()("Your name: ")\'', "Your name", "text?"),
    ("terminal-kit", "npm:terminal-kit", 'js \'import t from "terminal-kit"; t.terminal("Your name: "); '
     't.terminal.inputField(() => {})\'', "Your name", "text?"),
    ("ink", "npm:react npm:ink npm:ink-select-input", 'js \'import {render} from "ink"; import r from "react"; import S from "ink-select-input"; '
     'render(r.createElement(S.default ?? S, {items: [{label: "One", value: 1}, {label: "Two", value: 2}]}))\'', "", "key?"),
    ("bash read", "bash", "read -p 'Name: ' x", "Name:", "line"), ("bash read -s", "bash", "read -sp 'Password: ' x", "Password:", "secret"),
    ("bash read -n1", "bash", "read -n1 -p 'Go on? ' x", "Go on?", "key?"), ("bash read -e", "bash", "read -ep 'Name: ' x", "Name:", "text?"),
    ("bash read -t", "bash", "read -t 60 -p 'Name: ' x", "Name:", "line"), ("bash select", "bash", "select x in a b; do :; done", "", "line"),
    ("zsh vared", "zsh", "zsh -fc 'x=; vared -p \"Name: \" x'", "Name:", "text?"),
    ("fish read", "fish", "fish -c 'read -P \"Name: \" x'", "Name:", "text?"), ("ksh read", "ksh", "ksh -c 'read \"x?Name: \"'", "Name:", "line"),
    ("php -a", "php-cli", "php -a", "php >", "text?"), ("php readline", "php-cli", "php -r 'readline(\"Name: \");'", "Name:", "text?"),
    ("composer init", "composer", "composer init", "Package name", "line"), ("irb", "ruby", "irb", "irb(main)", "text?"),
    ("ruby getpass", "ruby", "ruby -rio/console -e 'IO.console.getpass(\"Password: \")'", "Password:", "secret"),
    ("gem signin", "ruby", "gem signin", "Email:", "line"), ("perl -d", "perl", "perl -de 1", "DB<1>", "text?"),
    ("gdb", "gdb", "gdb -q", "(gdb)", "text?"), ("guile", "guile-3.0", "guile", "scheme@", "text?"), ("clisp", "clisp", "clisp -q", "[1]>", "text?"),
    ("erl", "erlang-base", "erl", "1>", "text?"), ("ghci", "ghc", "ghci", "ghci>", "text?"), ("units", "units", "units", "You have:", "text?"),
    ("kakoune", "kakoune", "kak -n f", "", "key?"), ("aspell", "apt:aspell apt:aspell-en", "echo 'a mistaek' >f; aspell check f", "", "key?"),
    ("nmtui", "apt:dbus apt:network-manager root", "nm", "select an option", "key?"),
    ("less", "less", "seq 1000 >f; less f", "", "key?"), ("more", "util-linux", "seq 1000 >f; more f", "--More--", "key?"),
    ("tig", "tig", "repo; tig", "", "key?"), ("lynx", "lynx", "echo x >f.html; lynx f.html", "", "key?"),
    ("w3m", "w3m", "echo x >f.html; w3m f.html", "", "key?"), ("elinks", "elinks", "echo x >f.html; elinks f.html", "", "key?"),
    ("newsboat", "newsboat", "echo http://127.0.0.1:1/ >u; newsboat -u u -c c", "", "key?"),
    ("screen", "screen", "SCREENDIR=$PWD/s; mkdir -m700 s; export SCREENDIR; screen", "", "key?"), ("fzf", "fzf", "seq 100 | fzf", "", "key?"),
    ("fzf --height", "fzf", "seq 100 | fzf --height 10", "", "key?"), ("smenu", "smenu", "echo a b c | smenu -m Pick", "Pick", "key?"),
    ("pick (C)", "pick", "seq 9 >f; pick <f", "", "key?"),
    ("whiptail menu", "whiptail", "whiptail --title T --menu 'Choose a fruit' 15 40 4 a apple b pear", "Choose a fruit", "key?"),
    ("whiptail input", "whiptail", "whiptail --inputbox 'Your name' 10 40", "Your name", "text?"),
    ("whiptail password", "whiptail", "whiptail --passwordbox 'Enter the passphrase' 10 40", "Enter the passphrase", "secret?"),
    ("whiptail yesno", "whiptail", "whiptail --yesno 'Really continue?' 10 40", "Really continue?", "key?"),
    ("dialog menu", "dialog", "dialog --menu 'Choose a fruit' 15 40 4 a apple b pear", "Choose a fruit", "key?"),
    ("dialog input", "dialog", "dialog --inputbox 'Your name' 10 40", "Your name", "text?"),
    ("dialog password", "dialog", "dialog --passwordbox 'Enter the passphrase' 10 40", "Enter the passphrase", "secret"),
    ("script, inner line", "bsdutils", "script -qc 'read -p \"Name: \" x' /dev/null", "Name:", "text?"),
    ("script, inner password", "bsdutils", "script -qc 'stty -echo; printf \"Password: \"; head -1' /dev/null", "Password:", "secret?"),
    ("expect", "expect", "expect -c 'spawn sh -c \"printf Name:; read x\"; interact'", "Name:", "text?"),
    ("rlwrap", "rlwrap", "rlwrap -S 'name: ' cat", "name:", "text?"),
]

# More rows, short ones: the command, and after @ the package if it is called differently.
for kind, commands in (
("key?", "aptitude, vim -u NONE f, nano f, micro f, joe f, emacs -nw -Q f @emacs-nox, man -P less bash @man-db, htop, mc, "
 "ranger, nnn, vifm, ncdu, neomutt, calcurse, irssi, nethack @nethack-console, tmux -L $PORT -f /dev/null new bash --norc"),
    ("line", "tzselect @libc-bin, dash, cpan @perl, ocaml @ocaml-nox, dc, ed"),
("text?", "bash --norc, zsh -f, fish -N, busybox ash @busybox-static, lua5.4, swipl @swi-prolog-nox, R --no-save -q @r-base-core, "
 "qalc"),
):
    for words in commands.split(", "):
        command, _, package = words.partition(" @")
        ASK.append((command, f"apt:{package or command.split()[0]}", command, "", kind))

# Programs that work and ask nothing: their name, and the command.
WORK = [
    ("sleep", "sleep 99"), ("open line", "printf 'working '; sleep 99"), ("no echo", "stty -echo; printf 'working: '; sleep 99"),
    ("http.server", "/usr/bin/python3 -m http.server $PORT"),
    ("node server", "node -e 'require(\"http\").createServer().listen(process.env.PORT, () => console.log(\"up\"))'"),
    ("node server with keys", "node -e 'process.stdin.setRawMode(true); process.stdin.on(\"data\", () => {}); console.log(\"press h to show help\")'"),
    ("node, raw, working", "node -e 'process.stdin.setRawMode(true); process.stdin.on(\"data\", () => {}); process.stdout.write(\"working \")'"),
    ("tail -f", "touch q; tail -f q"), ("tail -F", "tail -F /etc/hosts"), ("watch -n 2", "watch -n 2 date"), ("watch -t", "watch -tn 2 true"),
    ("watch -n 5", "watch -n 5 date"), ("top", "top -d 3"), ("top -b", "top -b -d 5"), ("vmstat", "vmstat 5"),
    ("spinner", "while :; do for c in - / '|'; do printf \"\\r$c\"; sleep .1; done; done"),
    ("slow spinner", "while :; do for c in - / '|'; do printf \"\\r$c working\"; sleep 3; done; done"),
    ("progress", "for i in $(seq 99); do printf \"\\r$i%% \"; sleep 4; done"), ("cat | sleep", "cat | sleep 99"), ("yes | sleep", "yes | sleep 99"),
    ("make", "printf 'all:\\n\\t@printf building; sleep 99\\n' >Makefile; make"),
    ("make -j2", "printf 'all: a b\\na b:\\n\\t@printf building; sleep 99\\n' >Makefile; make -j2"),
    ("a loop", "printf 'Working: '; while :; do :; done"), ("script", "script -qc 'printf \"working: \"; sleep 99' /dev/null"),
    ("expect", "expect -c 'spawn sh -c \"printf working:; sleep 99\"; interact'"), ("timeout", "timeout 90 sleep 99"),
    ("xargs", "echo | xargs -I{} sleep 99"), ("poll of a socket", "/usr/bin/python3 -c 'import socket; s = socket.socket(); s.listen(); "
     "print(\"Listening: \", end=\"\", flush=True); s.accept()'"), ("wait", "sleep 99 & wait"), ("flock", "flock l sleep 99"), ("FIFO", "mkfifo f; cat f"),
    ("openssl s_server", "openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -subj /CN=x 2>q; openssl s_server -key k -cert c -accept $PORT"),
    ("npm run", "echo '{\"scripts\":{\"s\":\"sleep 99\"}}' >package.json; npm run s"), ("git fetch", "git init -q .; git -c protocol.ext.allow=always fetch 'ext::sleep 99'"),
    ("fs.watch", "node -e 'require(\"fs\").watch(\".\", () => {}); process.stdout.write(\"watching> \")'"), ("ping", "ping -i 3 127.0.0.1"),
    ("ssh -t", "sshd; ssh -F c -i k -t localhost 'printf \"working: \"; sleep 99'"), ("dd", "dd if=/dev/zero of=/dev/null"),
    ("redis-server", "redis-server --port $PORT"), ("inner terminal of tmux", "tmux -L w$PORT -f /dev/null new 'printf working; sleep 99'"),
    ("pv", "yes | pv -L 1k >/dev/null"), ("two jobs", "sleep 99 & sleep 99"), ("bash -c with a coprocess", "coproc cat; sleep 99"), ("inotify loop", "while sleep 2; do printf .; done"),
]

# The reasons of what is missed or unexpected, by name.
HIDDEN = "runs with rights that make the kernel hide it, and leaves echo on"
BUSY = "redraws its screen every second or two: never quiet"
NOTES = {
    "at": HIDDEN, "crontab -r -i": HIDDEN, "htop": BUSY, "calcurse": BUSY,
    "elinks": "stays on the main screen, with the cursor at the end of it",
    "textual": "its cursor blinks by redrawing: never quiet",
    "certtool": "beside: takes the end of input for all names, then asks for a password",
}
