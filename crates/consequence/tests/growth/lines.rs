//! Lines that double, replace, repeat, join and nest values.

/// Numbers that look random, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns the next number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    /// Returns one of several texts.
    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// What makes a value of others, or of itself.
const GROW: [&str; 20] = [
    "v=$v$v",
    "v=\"$v $v\"",
    "v+=$v",
    "v=${v//a/$v}",
    "v=${v/a/$v$v}",
    "v=${w:-$v$v}",
    "set -- \"$@\" $v \"$@\"; v=\"$*\"",
    "a+=(\"${a[@]}\" $v); v=\"${a[*]}\"",
    "IFS=,; v=\"${a[*]}${a[*]}\"",
    "v=$(echo \"$v$v\")",
    "v=`printf %s $v $v`",
    "eval \"v=$v$v\"",
    "f() { v=$v$1; f \"$v$1\"; }; f $v",
    "x() { eval \"$1$1\"; }; x \"echo $v; x $v;\"",
    "export v=$v$v; v=$(bash -c 'echo $v$v')",
    "read v <<< \"$v$v\"",
    "v=${v^^}${v,,}${v%a}${v##*b}",
    "printf -v v %s \"$v$v\"",
    "g() { g$v() { g; }; g$v; }; g",
    "mkdir -p $v/{1..99}/{1..9}; v=$(find . -type d)",
];

/// What uses a value.
const USE: [&str; 14] = [
    "echo $v{1..1000}$v",
    "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}$v",
    "echo $v $v | xargs -I% echo %%%%",
    "printf '%s\\n' $v $v $v | xargs -I% sh -c 'echo %%'",
    "cat <<E | xargs echo\n$v$v\nE\n:",
    "case $v in *$v*) v=${v%%*a};; *a*b*$v) :;; esac",
    "[[ $v == *a*a*a*a*$v ]]",
    "echo $v $v $v $v $v $v $v $v $v $v $v $v $v $v $v $v",
    "rm -f $v; rm -rf ./$v/*$v*",
    "find $v -name \"*$v*\" -exec rm {} {} {} \\;",
    "cd $v$v; rm -r $v",
    "mv $v $v/$v; cp -r $v/$v $v",
    "> $v; echo $v > $v$v",
    "echo ${v:0:9}${v: -9}${#v}$((v + v))",
];

/// Returns a line, of a few hundred characters.
pub(crate) fn line(seed: u64) -> String {
    let numbers = &mut Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut line = String::from("v=ab; ");
    for _ in 0..=numbers.below(4) {
        let mut part = format!("{}\n", numbers.one(&GROW)).repeat([1, 2, 9, 35][numbers.below(4)]);
        for _ in 0..numbers.below(3) {
            part = numbers
                .one(&[
                    "( @ ); ",
                    "for i in {1..400}; do @ done; ",
                    "while true; do @ done; ",
                    "if grep -q x y; then @ else @ fi; ",
                    "v=$( @ echo $v ); ",
                    "@ | cat; ",
                    "{ @ } & ",
                    "h() { @ }; h $v; ",
                ])
                .replace('@', &part);
        }
        line += &part;
    }
    line + numbers.one(&USE)
}
