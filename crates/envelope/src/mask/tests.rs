//! Table-driven tests of masking: what is hidden, how much of it, and what is not a secret.

mod properties;

use serde_json::json;

use super::*;

#[track_caller]
fn shows(text: &str, shown: &str) {
    assert_eq!(mask(text), shown, "of {text}");
    assert_eq!(mask(shown), shown, "again");
}

#[track_caller]
fn leaves(texts: &[&str]) {
    for text in texts {
        assert!(matches!(mask(text), Cow::Borrowed(same) if same == *text), "{text} -> {}", mask(text));
    }
}

#[test]
fn assignments_with_a_secret_name_are_masked() {
    for name in [
        "token",
        "API_TOKEN",
        "client-secret",
        "Password",
        "PGPASSWORD",
        "db_passwd",
        "API_KEY",
        "apiKey",
        "AWS_ACCESS_KEY_ID",
        "SSH_PRIVATE_KEY",
        "credentials",
        "-Dspring.datasource.password",
    ] {
        shows(&format!("{name}=hunter2 run"), &format!("{name}=[masked] run"));
        shows(&format!("export {name}=hunter2; run"), &format!("export {name}=[masked]; run"));
    }
    shows("TOKEN+=abc x", "TOKEN+=[masked] x");
    shows("curl -d 'user[password]=abc&x=1' h", "curl -d 'user[password]=[masked]&x=1' h");
    shows("A_TOKEN=a B_SECRET=b c=d", "A_TOKEN=[masked] B_SECRET=[masked] c=d");
    shows("curl https://h/?access_token=abc&page=2", "curl https://h/?access_token=[masked]&page=2");
}

#[test]
fn a_value_reaches_to_the_end_of_its_shell_word() {
    shows("PASSWORD='a b' run", "PASSWORD=[masked] run");
    shows("PASSWORD=\"a \\\" b\" run", "PASSWORD=[masked] run");
    shows("PASSWORD=a\\ b run", "PASSWORD=[masked] run");
    shows("PASSWORD=a'b c'\"d e\" run", "PASSWORD=[masked] run");
    shows("TOKEN=$(printf '%s' 'a b') run", "TOKEN=[masked] run");
    shows("TOKEN=`cat a b` run", "TOKEN=[masked] run");
    shows("sh -c 'cd x; TOKEN=abc run' && next", "sh -c 'cd x; TOKEN=[masked] run' && next");
    shows("docker run -e \"PASSWORD=my pass\" img", "docker run -e \"PASSWORD=[masked]\" img");
    shows("mysql '--password=my pass' db", "mysql '--password=[masked]' db");
    shows("env 'TOKEN=a'\\''b c' run", "env 'TOKEN=[masked]' run");
    shows("TOKEN='never closed run", "TOKEN=[masked]");
    shows("PRIVATE_KEY='-----BEGIN\nabc\n-----END' run", "PRIVATE_KEY=[masked] run");
    shows("PASSWORD=pässwörd run", "PASSWORD=[masked] run");
    shows("PASSWORD=\\é run", "PASSWORD=[masked] run");
    shows("PASSWORD=\\", "PASSWORD=[masked]");
}

#[test]
fn values_of_flags_with_a_secret_name_are_masked() {
    shows("login --password hunter2 --user me", "login --password [masked] --user me");
    shows("login --password=hunter2 --user me", "login --password=[masked] --user me");
    shows("login --api-key 'a b' x", "login --api-key [masked] x");
    shows("login --token  \\\n  abc x", "login --token  \\\n  [masked] x");
    shows("vault -token abc x", "vault -token [masked] x");
    shows("login '--password' 'a b' x", "login '--password' [masked] x");
    shows("sh -c 'login --password hunter2' x", "sh -c 'login --password [masked]' x");
}

#[test]
fn a_password_in_a_url_is_masked() {
    shows("git clone https://me:abc@host/x.git", "git clone https://me:[masked]@host/x.git");
    shows("psql postgres://u:p@ss@h:5432/db?x=a@b", "psql postgres://u:[masked]@h:5432/db?x=a@b");
    shows("psql 'postgres://u:p/s#s@h/db' x", "psql 'postgres://u:[masked]@h/db' x");
    shows("redis-cli -u redis://:abc@h", "redis-cli -u redis://:[masked]@h");
    shows("x a://b:c@d e://f:g@h", "x a://b:[masked]@d e://f:[masked]@h");
}

#[test]
fn authorization_headers_are_masked() {
    shows("curl -H \"Authorization: Bearer abc\" h", "curl -H \"Authorization: [masked]\" h");
    shows("curl -H 'authorization:Basic a=' h", "curl -H 'authorization:[masked]' h");
    shows("GET /\nAuthorization: Bearer a b\nHost: h", "GET /\nAuthorization: [masked]\nHost: h");
    shows("curl -H 'Proxy-Authorization: abc' h", "curl -H 'Proxy-Authorization: [masked]' h");
    shows("py -c 'h={\"Authorization\": \"Bearer a\"}'", "py -c 'h={\"Authorization\": [masked]'");
    shows(
        "git -c http.extraheader=\"AUTHORIZATION: x y\" f",
        "git -c http.extraheader=\"AUTHORIZATION: [masked]\" f",
    );
}

#[test]
fn f59_a_bearer_with_nothing_but_its_token_is_masked() {
    shows("call --with 'Bearer eyJ.a-b_c=' h", "call --with 'Bearer [masked]' h");
    shows("call \"Bearer abc\"; x", "call \"Bearer [masked]\"; x");
    shows(r#"call -d '{"h": "Bearer abc"}' x"#, r#"call -d '{"h": "Bearer [masked]"}' x"#);
    shows(r#"call -d "{\"h\": \"Bearer abc\"}" x"#, r#"call -d "{\"h\": \"Bearer [masked]\"}" x"#);
    leaves(&[
        "git commit -m 'Bearer tokens expire'",
        "call \"Bearer $TOKEN\"",
        "echo Bearer abc",
        "'Bearer '",
    ]);
}

#[test]
fn the_password_of_a_user_is_masked() {
    shows("curl -u me:pw https://h", "curl -u me:[masked] https://h");
    shows("curl -u 'me:p w' https://h -v", "curl -u 'me:[masked]' https://h -v");
    shows("curl -u \"$USER:$PW\" h", "curl -u \"$USER:[masked]\" h");
    shows("curl --user me:pw h; ls", "curl --user me:[masked] h; ls");
    shows("curl --user=me:pw h", "curl --user=me:[masked] h");
    shows("curl -fsSLu me:pw -o x h", "curl -fsSLu me:[masked] -o x h");
    shows("curl -ume:pw h", "curl -ume:[masked] h");
    shows("curl -u :token123 h", "curl -u :[masked] h");
    shows("sh -c 'curl -u me:pw h'", "sh -c 'curl -u me:[masked] h'");
}

#[test]
fn passwords_of_logins_are_masked() {
    shows("sshpass -p hunter2 ssh -p 22 h", "sshpass -p [masked] ssh -p 22 h");
    shows("sshpass -phunter2 ssh -p 22 h", "sshpass -p[masked] ssh -p 22 h");
    shows("/usr/bin/sshpass -v -p 'a b' scp x h:", "/usr/bin/sshpass -v -p [masked] scp x h:");
    shows("docker login -u me -p hunter2 reg.io", "docker login -u me -p [masked] reg.io");
    shows("docker login -p=hunter2 reg.io", "docker login -p=[masked] reg.io");
    shows("cd x && podman login -phunter2 reg.io", "cd x && podman login -p[masked] reg.io");
    shows("sh -c 'docker login -p hunter2'", "sh -c 'docker login -p [masked]'");
}

#[test]
fn members_of_json_objects_are_masked() {
    shows(r#"curl -d '{"password":"a b","x":"y"}' h"#, r#"curl -d '{"password":"[masked]","x":"y"}' h"#);
    shows(r#"curl -d '{"apiKey": "a\"b", "n": 1}' h"#, r#"curl -d '{"apiKey": "[masked]", "n": 1}' h"#);
    shows(r#"curl -d "{\"password\":\"a b\"}" h"#, r#"curl -d "{\"password\":\"[masked]\"}" h"#);
    shows(r#"curl -d "{\"secret\": \"a\\\"b\"}" h"#, r#"curl -d "{\"secret\": \"[masked]\"}" h"#);
    shows(r#"curl -d '{"secret": 1234, "n": 5}' h"#, r#"curl -d '{"secret": [masked], "n": 5}' h"#);
    shows("py -c \"f({'password': 'a b'})\" x", "py -c \"f({'password': '[masked]'})\" x");
    shows(r#"{"db_pass":"a"} TOKEN=b c"#, r#"{"db_pass":"[masked]"} TOKEN=[masked] c"#);
}

#[test]
fn names_with_a_short_word_of_their_own_are_masked() {
    for name in ["X_AUTH", "DB_PASS", "GITHUB_PAT", "PASS", "dbPass", "proxy-auth"] {
        shows(&format!("{name}=hunter2 run"), &format!("{name}=[masked] run"));
    }
    shows("login --pass hunter2 x", "login --pass [masked] x");
    shows("openssl rsa -passin pass:x -pass pass:y", "openssl rsa -passin [masked] -pass [masked]");
    shows("openssl rsa -passout 'pass:a b' x", "openssl rsa -passout [masked] x");
    shows("keytool -storepass x -keypass y -list", "keytool -storepass [masked] -keypass [masked] -list");
    shows("sqlcmd 'Server=h;Uid=sa;Pwd=x'", "sqlcmd 'Server=h;Uid=sa;Pwd=[masked]'");
}

#[test]
fn headers_with_a_key_are_masked() {
    shows("curl -H 'X-Api-Key: a b' h", "curl -H 'X-Api-Key: [masked]' h");
    shows("curl -H \"x-api-key:abc\" h", "curl -H \"x-api-key:[masked]\" h");
    shows("curl -H X-Api-Key:abc h", "curl -H X-Api-Key:[masked] h");
    shows("curl -H 'PRIVATE-TOKEN: abc' h", "curl -H 'PRIVATE-TOKEN: [masked]' h");
    shows("GET /\nX-Auth-Token: abc\nHost: h", "GET /\nX-Auth-Token: [masked]\nHost: h");
}

#[test]
fn headers_by_their_option_and_cookies_are_masked() {
    shows("curl -H 'Token: abc' h", "curl -H 'Token: [masked]' h");
    shows("curl --header \"Client-Secret: a b\" h", "curl --header \"Client-Secret: [masked]\" h");
    shows("curl -H 'Cookie: sid=a; x=b' h", "curl -H 'Cookie: [masked]' h");
    shows("GET /\nCookie: sid=a; x=b\nHost: h", "GET /\nCookie: [masked]\nHost: h");
    shows("curl -b 'sid=a' --cookie x=y h", "curl -b [masked] --cookie [masked] h");
    shows("curl --oauth2-bearer abc h", "curl --oauth2-bearer [masked] h");
}

#[test]
fn values_of_settings_are_masked() {
    shows("printf 'password = a b\nuser = me' > f", "printf 'password = [masked]\nuser = me' > f");
    shows("echo 'password = abc'", "echo 'password = [masked]'");
    shows("cat > f <<X\n[client]\npassword = abc\nX", "cat > f <<X\n[client]\npassword = [masked]\nX");
    shows("ruby -e \"f('password' => 'a b')\"", "ruby -e \"f('password' => [masked]\"");
    shows("cat > f <<X\na:\n  token: abc\nX", "cat > f <<X\na:\n  token: [masked]\nX");
    shows("echo 'password: \"a b\"' > f", "echo 'password: [masked]' > f");
    shows("echo '<password>a b</password>'", "echo '<password>[masked]</password>'");
    shows("x '<a:token type=\"x\">abc</a:token>'", "x '<a:token type=\"x\">[masked]</a:token>'");
    shows("x '<secret><![CDATA[a b]]></secret>'", "x '<secret><![CDATA[[masked]]]></secret>'");
}

#[test]
fn values_after_a_word_that_sets_them_are_masked() {
    shows("aws configure set aws_secret_access_key abc", "aws configure set aws_secret_access_key [masked]");
    shows(
        "aws configure set --profile dev aws_session_token abc; x",
        "aws configure set --profile dev aws_session_token [masked]; x",
    );
    shows("npm config set //r.org/:_authToken abc", "npm config set //r.org/:_authToken [masked]");
    shows("git config --global github.token 'a b'", "git config --global github.token [masked]");
    shows("redis-cli CONFIG SET requirepass abc", "redis-cli CONFIG SET requirepass [masked]");
    shows("set -x API_TOKEN abc", "set -x API_TOKEN [masked]");
    shows("setenv API_TOKEN abc", "setenv API_TOKEN [masked]");
    shows("jq -n --arg password 'a b' '$x'", "jq -n --arg password [masked] '$x'");
    shows("printf -v PASSWORD %s abc && x", "printf -v PASSWORD [masked] && x");
    shows("printf -v TOKEN '%s%s' a 'b c'; x", "printf -v TOKEN [masked]; x");
    shows("read TOKEN <<< abc", "read TOKEN <<< [masked]");
    shows("IFS=: read -r USER PASS <<<'me:a b'; x", "IFS=: read -r USER PASS <<<[masked]; x");
    shows("docker login --password-stdin h <<< abc", "docker login --password-stdin h <<< [masked]");
    shows("chpasswd <<< me:abc", "chpasswd <<< [masked]");
    shows("TOKENS=(abc 'd e') x", "TOKENS=[masked] x");
    shows("TOKENS=(abc)d x", "TOKENS=[masked] x");
    shows("<token>Cookie: a=<<< \n</token>", "<token>[masked]</token>");
    shows("x ${TOKEN:-abc} ${TOKEN:=abc}", "x ${TOKEN:-[masked]} ${TOKEN:=[masked]}");
    shows("net use x /user:me /password:abc", "net use x /user:me /password:[masked]");
    shows("x -Password:'a b' y", "x -Password:[masked] y");
    shows("echo 'machine h login me password abc'", "echo 'machine h login me password [masked]'");
    shows("cat > f <<X\nmachine h\n password abc\nX", "cat > f <<X\nmachine h\n password [masked]\nX");
    shows("psql -c \"ALTER ROLE me PASSWORD 'a b'\"", "psql -c \"ALTER ROLE me PASSWORD [masked]\"");
    shows("mysql -e \"SET x IDENTIFIED BY 'abc'\"", "mysql -e \"SET x IDENTIFIED BY [masked]\"");
    shows("mysql -u me -pabc db", "mysql -u me -p[masked] db");
}

#[test]
fn tokens_of_a_known_shape_are_masked() {
    for token in [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0aBcDeFgHiJkL_0123456789abcdef",
        "sk-proj-abcdefghij0123456789",
        "sk-ant-api03-Ab0_cdefghijkl12-mnop",
        "xoxb-123456789012-abcdefGHIJ",
        "AKIAIOSFODNN7EXAMPLE",
    ] {
        shows(&format!("gh auth login {token}; ls"), "gh auth login [masked]; ls");
        shows(&format!("echo '{token}' | x"), "echo '[masked]' | x");
        shows(&format!("git clone https://{token}@h/x"), "git clone https://[masked]@h/x");
    }
}

#[test]
fn text_that_only_looks_like_a_secret_is_not_masked() {
    leaves(&[
        "GIT_AUTHOR_NAME=me GIT_AUTHOR_EMAIL=a@b git commit",
        "PATH=/bin:/usr/bin run",
        "SSH_AUTH_SOCK=/run/user/1000/agent.1 ssh h",
        "AUTH_TYPE=basic AUTH=none PASS=0 run",
        "pass=$((pass+1)); echo $pass",
        "git commit -m \"auth: fix the login\"",
        "docker run -u 1000:1000 --user www:www -p 80:80 img",
        "mkdir -p a/b; ssh -p 22 h; ssh login -p 22",
        "git push -u origin HEAD:main",
        "date -u +%Y-%m-%dT%H:%M:%SZ",
        "redis-cli -u redis://h:6379",
        "sort -u a:b".trim_end_matches(":b"),
        "journalctl -u nginx",
        "pip install sk-learn sk-2024-quarterly-report-final-version",
        "cat task-sk-notes ghp_short AKIA AKIAIOSFODNN7EXAMPLE1 xoxb-1",
        r#"curl -d '{"max_tokens": 100, "author": "me", "auth": true}' h"#,
        r#"curl -d '{"path": "/x", "password": ""}' h"#,
        r#"curl -d '{"token":"'"$T"'"}' h"#,
        "echo \"pass: 3\"",
        "ffmpeg -pass 1 x",
        "openssl rsa -passin env:PW -passout file:/run/pw -pass stdin",
        "gpg --batch --passphrase-fd 0 --passphrase-file pw x",
        "curl -b jar.txt --cookie-jar jar.txt h; COOKIE_SECURE=true COOKIE_DOMAIN=h x",
        "git commit -m 'cookie: fix the jar'",
        "cd x; PWD=/x OLDPWD=$PWD make",
        "[ $TOKEN = x ] && [ \"${TOKEN}\" == x ]; [[ $PASSWORD =~ ^a ]]",
        "grep token <<< \"$text\"",
        "read -p 'Password: ' -rs PASSWORD; read TOKEN < file",
        "printf -v NAME %s x; printf '%s' token",
        "git config --get user.token; npm config get token; git config user.name token",
        "x <file >token; <token >x cat",
        "git commit -m 'token: say what is wrong'",
        "expect 'password: '",
        "mysql -p -P 3306 db",
        "xcopy /d:1 C:/token:x",
    ]);
}

#[test]
fn text_without_a_secret_is_not_masked() {
    leaves(&[
        "",
        "git show 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "COMMIT=9fceb02d0ae598e95dc970b74767f19372d61af8 make",
        "git log --author=secretary --grep token",
        "grep -rn password src; echo 'the secret is out' token",
        "tokenize=1 make",
        "run --tokenizer bpe",
        "run --tokenizer=bpe",
        "PASSWORD= run",
        "PASSWORD=",
        "PASSWORD='' ".trim_end_matches("'' "),
        "grep \"password=\" src",
        "grep 'token=' src",
        "login --token-file path/to/file",
        "KEY_FILE=x PASSWORD_FILE=/run/secrets/pw run",
        "docker login --password-stdin registry",
        "dialog --passwordbox 'Enter the passphrase' 10 40",
        "sudo --no-password ls",
        "login --password --verbose",
        "login --password; ls",
        "login --password",
        "llm --max-tokens 4096 --max_tokens=10",
        "git -c credential.helper=store fetch",
        "git clone ssh://git@host/x",
        "curl http://host:8080/@scope/x",
        "https://host/a:b@c",
        "[ \"$TOKEN\" = x ]",
        "if [ -n \"$PASSWORD\" ]; then ls; fi",
        "echo authorization is hard",
        "make AUTHOR=me",
    ]);
}

#[test]
fn a_quoted_value_of_a_file_variable_is_masked_and_a_process_substitution_is_not() {
    shows("login --password-file <(x)", "login --password-file <(x)");
    shows("TOKEN_FILE='a b' x", "TOKEN_FILE=[masked] x");
}

#[test]
fn a_json_value_keeps_its_shape() {
    let mut input = json!({"cmd": "TOKEN=a x", "items": [{"cmd": "--password b"}], "n": 1, "token": null});
    mask_strings(&mut input);
    assert_eq!(
        input,
        json!({"cmd": "TOKEN=[masked] x", "items": [{"cmd": "--password [masked]"}], "n": 1, "token": null})
    );
}

#[test]
fn a_header_hidden_before_stays_as_it_is() {
    for text in [
        "Authorization: ''--password ",
        "Authorization: 'Bearer abc' https://a.example -v",
        "\"Authorization: ''--password ",
        "\"Authorization: /\"token",
    ] {
        let once = mask(text).into_owned();
        assert_eq!(mask(&once), once.as_str());
    }
}
