//! What holds for any text, and for every kind of command on the page about masking.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

#[test]
fn hostile_text_takes_linear_time() {
    // A quarter of a megabyte each: anything worse than linear would take minutes.
    for part in [
        "=",
        "token",
        "token=",
        "token= ",
        "'token='",
        "\"token=\\",
        "--token ",
        "--token",
        "://",
        "a://b:",
        "a://b:c@",
        "authorization:",
        "authorization:'",
        "$(",
        "token=$(",
        "`",
        "token=`",
        "\\",
        "token='\\''",
        "-",
        "token]=",
        "-token \\\n",
        "-u ",
        "-u a:",
        "-u $(",
        "-u 'a:",
        "curl -ua",
        "sshpass -p",
        "docker login -p ",
        "\"password\":\"",
        "\"password\":",
        "\\\"password\\\":\\\"",
        "x-api-key:",
        "ghp_",
        "auth_type=(",
        "auth_type=$(",
        "token = ",
        "auth = ",
        "   =",
        "= token",
        "token: ",
        "token: a",
        "token: \\",
        "/token:",
        "-token:",
        "${token:-",
        "<token>",
        "<token",
        "<token><![CDATA[",
        "<token>a</",
        "<<<",
        "read token <<< ",
        "-H token:",
        "cookie:",
        "cookie:a=",
        "set token ",
        "printf -v token ",
        "machine password ",
        "identified by ",
        "password 'a",
        "mysql -p",
        "sk-",
        "sk-abcdefghij0123456789_",
        "AKIA",
        " \\\n",
    ] {
        let text = part.repeat((1 << 18) / part.len());
        assert!(mask(&text).len() <= text.len() * 4, "{part}");
    }
}

/// Commands with a secret (`@`) beside its name, each another way to write that (docs/masking.md).
const BESIDE_ITS_NAME: [&str; 84] = [
    "API_TOKEN=@ run",
    "export PASSWORD='@ x' run",
    "TOKEN+=@ run",
    "TOKENS=(a @)",
    "declare -A x=([password]=@)",
    "env DB_PASS=@ run",
    "docker run -e PASSWORD=@ img",
    "docker run -e 'PASSWORD=a @' img",
    "helm upgrade x --set db.password=@",
    "kubectl create secret generic x --from-literal=password=@",
    "run ${TOKEN:-@}",
    "run ${TOKEN:=@}",
    "login --password @",
    "login --password=@",
    "login --passphrase @",
    "gpg --batch --passphrase=@ -d f",
    "login -Password:@",
    "vault login -token @",
    "gh auth login --token '@'",
    "curl --oauth2-bearer @ h",
    "curl --pass @ h",
    "curl --proxy-user me:@ h",
    "curl -u me:@ h",
    "curl --user=me:@ h",
    "curl -ume:@ h",
    "curl -b sid=@ h",
    "curl --cookie 'sid=@; x=y' h",
    "curl -H 'Cookie: sid=@; x=y' h",
    "curl -H \"Authorization: Bearer @\" h",
    "curl -H 'Proxy-Authorization: Basic @' h",
    "curl -H 'X-Api-Key: @' h",
    "curl -H 'X-Vault-Token: @' h",
    "curl -H 'PRIVATE-TOKEN: @' h",
    "curl -H 'Token: @' h",
    "curl 'https://h/?access_token=@&x=y'",
    "curl -d 'user=me&password=@' h",
    "curl -d '{\"password\":\"@\"}' h",
    "curl -d \"{\\\"token\\\": \\\"@\\\"}\" h",
    "curl -F client_secret=@ h",
    "http h 'Authorization:Bearer @'",
    "http --auth me:@ h",
    "wget --http-password=@ h",
    "git clone https://me:@%h/x",
    "psql postgres://u:@%h/db",
    "psql 'host=h password=@'",
    "psql -c \"ALTER ROLE me PASSWORD '@'\"",
    "mysql -e \"CREATE USER x IDENTIFIED BY '@'\"",
    "mysql -u me -p@ db",
    "sqlcmd -S 'Server=h;Uid=sa;Pwd=@'",
    "redis-cli CONFIG SET requirepass @",
    "sshpass -p @ ssh h",
    "docker login -u me -p @ h",
    "docker login --password-stdin h <<< @",
    "chpasswd <<< me:@",
    "net use x /user:me /password:@",
    "openssl rsa -passin pass:@ -in f",
    "openssl rsa -passout pass:@ -in f",
    "openssl enc -pass pass:@ -in f",
    "keytool -storepass @ -list",
    "aws configure set aws_secret_access_key @",
    "aws configure set --profile dev aws_session_token @",
    "npm config set //r.org/:_authToken @",
    "git config --global github.token @",
    "git -c http.extraheader=\"AUTHORIZATION: basic @\" fetch",
    "pip config set global.password @",
    "set -x API_TOKEN @",
    "setenv API_TOKEN @",
    "jq -n --arg password @ x",
    "printf -v PASSWORD x @",
    "read TOKEN <<< @",
    "read -r NAME PASS <<< 'me @'",
    "printf 'password = @'",
    "printf '[client]\npassword = a @\n'",
    "cat <<X\npassword = @\nX\ntrue",
    "printf 'password: @\n'",
    "printf 'machine h login me password @\n'",
    "cat <<X\nmachine h\n  login me\n  password @\nX\ntrue",
    "echo '<password>@</password>'",
    "echo '<x token=\"@\"/>'",
    "python3 -c \"f({'password': '@'})\"",
    "python3 -c \"import os; os.environ['TOKEN'] = '@'\"",
    "ruby -e \"f('password' => '@')\"",
    "ansible all -e ansible_become_pass=@",
    "java -Dspring.datasource.password=@ x",
];

proptest! {
    #[test]
    fn masking_twice_is_masking_once(text in "(?s)([-a-z=:/@&;'\"\\\\ \n$()`\\]]|token|--password |Authorization: |://|é|-u |a:b|\"password\":|\\\\\"pass\\\\\": |sshpass |-p |X-Api-Key: |ghp_0123456789abcdefghij|docker login |curl |password = |token: |<token>|</token>|<<< |read |set |printf -v |/token:|Cookie: a=|[$][{]token:-|=[(]|machine |password |-H ){0,24}") {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn a_secret_never_survives_in_any_quotes(
        before in "[a-z ]{0,8}", name in "(DB_PASSWORD=|--token |--api-key=|X_SECRET_Y=)", secret in "[A-Z0-9 $#%!]{6,12}",
        quote in "['\"]", after in "( [a-z]{0,6}){0,3}",
    ) {
        let text = format!("{before} {name}{quote}{secret}{quote}{after}");
        let shown = mask(&text).into_owned();
        prop_assert_eq!(shown, format!("{before} {name}[masked]{after}"));
    }

    #[test]
    fn no_kind_of_command_shows_a_secret_beside_its_name(
        value in "[A-Z][A-Za-z0-9]{7,15}", before in "(|cd /x && |sudo |x; |A=b )", after in "(| && x| \\| x|; x| > f)",
    ) {
        for kind in BESIDE_ITS_NAME {
            let text = format!("{before}{}{after}", kind.replace('@', &value).replace('%', "@"));
            let shown = mask(&text).into_owned();
            prop_assert!(!shown.contains(&value), "{} -> {}", text, shown);
            prop_assert_eq!(mask(&shown), shown.as_str());
        }
    }

    #[test]
    fn what_follows_a_secret_is_never_hidden(
        secret in "(curl -u me:%|curl -H 'X-Api-Key: %'|sshpass -p %|docker login -p %|x '\\{\"password\":\"%\"\\}'|DB_PASS=%|x ghp_%0123456789abcdefghij)",
        value in "[A-Z0-9]{6,12}", after in "( [a-z/]{1,6}){0,4}",
    ) {
        let text = format!("{}{after}", secret.replace('%', &value));
        let shown = mask(&text).into_owned();
        prop_assert!(!shown.contains(&value) && shown.ends_with(&after), "{} -> {}", text, shown);
    }

    #[test]
    fn text_without_names_and_signs_is_borrowed(text in "[^=:-]{0,80}") {
        prop_assert!(matches!(mask(&text), Cow::Borrowed(_)));
    }
}
