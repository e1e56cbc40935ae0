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

/// Commands with a secret (`@`) beside its name, each another way to write that (docs/masking.md); `%` is an `@`.
fn beside_its_name() -> Vec<String> {
    let lines = include_str!("../../../../../tests/corpus/commands_with_secrets.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("a string")).collect()
}

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
        for kind in beside_its_name() {
            let text = format!("{before}{}{after}", kind.replace('@', &value).replace('%', "@"));
            let shown = mask(&text).into_owned();
            prop_assert!(!shown.contains(&value), "{} -> {}", text, shown);
            prop_assert_eq!(mask(&shown), shown.as_str());
        }
    }

    #[test]
    fn text_after_a_secret_is_never_masked(
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
