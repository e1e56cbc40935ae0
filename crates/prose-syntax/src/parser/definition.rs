//! Definitions, which are hoisted: used programs, agents, blocks.

use std::sync::Arc;

use super::{ParseFailure, Parsed, Parser};
use crate::ast::{
    AgentDefinition, BlockDefinition, InputPrompt, InputStatement, Name, Opaque, Permission, Persist, Quote,
    Rule, SessionProperties, SkillImport, Spanned, Text, TextPart, Use, UsePath,
};
use crate::codes::RuleCode;
use crate::token::{Bracket, Token, TokenKind};

/// The properties of an agent.
const AGENT: [&str; 8] =
    ["model", "prompt", "persist", "context", "retry", "backoff", "skills", "permissions"];

impl Parser<'_> {
    /// Parses a definition, if present.
    pub(super) fn definition(&mut self) -> Option<Parsed<()>> {
        if self.kind_at(1) == TokenKind::Equal {
            return None;
        }
        match self.word() {
            "use" if self.is_string(1) => Some(self.parse_use()),
            "import" if self.is_string(1) => Some(self.parse_import()),
            "agent" if matches!(self.kind_at(1), TokenKind::Word | TokenKind::Colon) => Some(self.agent()),
            "block" if matches!(self.kind_at(1), TokenKind::Word | TokenKind::Colon) => Some(self.block()),
            _ => None,
        }
    }

    fn parse_use(&mut self) -> Parsed<()> {
        let start = self.bump();
        let path = self.string("the path of a program")?;
        let written = path.display_text().into_owned();
        let alias = self.as_name()?;
        let from = use_path(&written);
        if written.trim().is_empty() {
            self.reports.add(RuleCode::E011, path.span, "the path of this `use` is empty");
        } else if from == UsePath::Unknown {
            self.reports.add(RuleCode::E012, path.span, format!("\"{written}\" is no path of a program"));
        }
        let path = Spanned { value: written, span: path.span };
        let span = self.since(start.span);
        self.program.uses.push(Use { path, from, alias, span });
        Ok(())
    }

    fn parse_import(&mut self) -> Parsed<()> {
        let start = self.bump();
        let skill = self.string("the name of a skill")?;
        self.need_word("from")?;
        let source = self.string("where the skill comes from")?;
        let span = self.since(start.span);
        self.reports.add(RuleCode::OPW003, span, "`import` is the old way to name a skill");
        let from = source.display_text();
        let known = ["github:", "npm:", "http://", "https://", "./", "../", "/", "@"];
        if !known.iter().any(|known| from.starts_with(known)) {
            let message = format!("\"{from}\" is no source of a known form");
            self.reports.add(RuleCode::W006, source.span, message);
        }
        self.program.skills.push(SkillImport { skill, source, span });
        Ok(())
    }

    /// Parses the name of a definition.
    fn defined_name(&mut self, word: Token) -> Parsed<Name> {
        if self.kind() == TokenKind::Word {
            return self.name("a name");
        }
        let what = self.source.slice(word.span);
        let message = format!("this `{what}` has no name");
        self.reports.add(RuleCode::HPE007, word.span, message);
        Err(ParseFailure)
    }

    fn block(&mut self) -> Parsed<()> {
        let start = self.bump();
        let name = self.defined_name(start)?;
        let mut parameters = Vec::new();
        let mut max_depth = None;
        if self.kind() == TokenKind::Open(Bracket::Round) && self.word_at(1) != "max_depth" {
            parameters = self.names_between(Bracket::Round, "the name of a parameter")?;
        }
        if self.kind() == TokenKind::Open(Bracket::Round) {
            max_depth = self.max_depth()?;
        }
        let body = self.body("the block", start);
        let span = self.since(start.span);
        self.program.blocks.push(Arc::new(BlockDefinition { name, parameters, max_depth, body, span }));
        Ok(())
    }

    fn max_depth(&mut self) -> Parsed<Option<Spanned<std::num::NonZeroU32>>> {
        let open = self.bump();
        self.need_word("max_depth")?;
        self.need(TokenKind::Colon, "`:`")?;
        let span = self.token().span;
        let depth = self.positive(RuleCode::OPE003, "the depth");
        self.close(Bracket::Round, open)?;
        Ok(depth.map(|value| Spanned { value, span }))
    }

    fn agent(&mut self) -> Parsed<()> {
        let start = self.bump();
        let name = self.defined_name(start)?;
        self.need(TokenKind::Colon, "`:` after the name of the agent")?;
        let mut properties = SessionProperties::default();
        let (mut persist, mut skills, mut permissions) = (None, Vec::new(), Vec::new());
        self.properties("an agent", &AGENT, |parser, key, token| {
            match key {
                "persist" => persist = Some(parser.persist()?),
                "skills" => skills = parser.skills(token)?,
                "permissions" => permissions = parser.permissions(token)?,
                "retry" => {
                    parser.reports.add(RuleCode::HPW009, token.span, "an agent does not retry");
                    parser.session_property(key, token, &mut properties)?;
                }
                _ => parser.session_property(key, token, &mut properties)?,
            }
            Ok(())
        });
        let span = self.since(start.span);
        let agent = AgentDefinition { name, properties, persist, skills, permissions, span };
        self.program.agents.push(Arc::new(agent));
        Ok(())
    }

    fn persist(&mut self) -> Parsed<Spanned<Persist>> {
        let token = self.token();
        let value = match self.word() {
            "true" => Persist::Run,
            "project" => Persist::Project,
            "user" => Persist::User,
            _ => match self.string_here() {
                Some(path) => {
                    return Ok(Spanned {
                        value: Persist::Path(path.display_text().into_owned()),
                        span: token.span,
                    });
                }
                None => {
                    let message = |found: &str| format!("an agent does not persist as {found}");
                    return Err(self.wrong(RuleCode::HPE025, message));
                }
            },
        };
        self.bump();
        Ok(Spanned { value, span: token.span })
    }

    fn skills(&mut self, key: Token) -> Parsed<Vec<Text>> {
        if self.opens_block(0) && self.kind_at(2) == TokenKind::Minus {
            self.old_form(key.span, "skills on lines of their own", "write `skills: [\"one\", \"two\"]`");
            let mut skills = Vec::new();
            self.entries(|parser| skills.extend(parser.skill_line()));
            return Ok(skills);
        }
        if self.kind() != TokenKind::Open(Bracket::Square) {
            return Err(self.wrong(RuleCode::E013, |found| format!("skills are a list, not {found}")));
        }
        let skills = self.texts_in_list(RuleCode::E014, "a skill")?;
        if skills.is_empty() {
            self.reports.add(RuleCode::W010, key.span, "this list of skills is empty");
        }
        Ok(skills)
    }

    /// Parses `- name` or `- "name"`.
    fn skill_line(&mut self) -> Option<Text> {
        let start = self.token();
        let is_item = self.eat(TokenKind::Minus) && !self.kind().is_layout();
        let from = self.at;
        let text = self.string_here();
        if !is_item || text.is_some() && !self.kind().is_layout() {
            let span = start.span;
            self.reports.add(RuleCode::E014, span, "this line is no skill").hint("write `- \"name\"`");
            self.skip_line_and_block();
            return None;
        }
        text.or_else(|| {
            self.skip_to_line_end();
            let Opaque { text, span } = self.words(from);
            Some(Text { parts: vec![TextPart::Literal(text)], quote: Quote::Single, span })
        })
    }

    /// Parses a list of strings; reports `code` for any other element.
    pub(super) fn texts_in_list(&mut self, code: RuleCode, what: &str) -> Parsed<Vec<Text>> {
        let mut texts = Vec::new();
        self.between(Bracket::Square, |parser| {
            match parser.string_here() {
                Some(text) => texts.push(text),
                None => {
                    parser.wrong(code, |found| format!("{what} is a string, not {found}"));
                    parser.bump();
                }
            }
            Ok(())
        })?;
        Ok(texts)
    }

    fn permissions(&mut self, key: Token) -> Parsed<Vec<Permission>> {
        if self.kind() != TokenKind::Newline || self.kind_at(1) != TokenKind::Indent {
            self.reports.add(RuleCode::E015, key.span, "permissions are a block");
            return Err(ParseFailure);
        }
        let mut permissions = Vec::new();
        self.properties("permissions", &[], |parser, _, token| {
            let kind = parser.name_of(token);
            if !matches!(kind.as_str(), "read" | "write" | "execute" | "bash" | "network") {
                let message = format!("there is no permission `{}`", kind.text);
                parser.reports.add(RuleCode::W008, token.span, message);
            }
            let rule = parser.rule()?;
            permissions.push(Permission { kind, rule });
            Ok(())
        });
        Ok(permissions)
    }

    fn rule(&mut self) -> Parsed<Rule> {
        if self.kind() == TokenKind::Open(Bracket::Square) {
            return self.texts_in_list(RuleCode::E016, "a pattern").map(Rule::Patterns);
        }
        if let Some(text) = self.string_here() {
            return Ok(Rule::Patterns(vec![text]));
        }
        if self.kind() != TokenKind::Word {
            return Err(self.wrong(RuleCode::E016, |found| format!("a pattern is a string, not {found}")));
        }
        let token = self.bump();
        let word = self.name_of(token);
        if !matches!(word.as_str(), "allow" | "deny" | "prompt") {
            let message = format!("`{}` permits nothing known", word.text);
            self.reports.add(RuleCode::W009, token.span, message);
        }
        Ok(Rule::Word(word))
    }

    /// Returns whether `input` begins a declaration here, rather than being a name.
    pub(super) fn opens_input(&self) -> bool {
        matches!(self.kind_at(1), TokenKind::Word | TokenKind::Colon | TokenKind::Text | TokenKind::Newline)
    }

    pub(super) fn input(&mut self) -> Parsed<InputStatement> {
        let word = self.bump();
        if self.kind() != TokenKind::Word {
            self.reports.add(RuleCode::E020, word.span, "this input has no name");
            return Err(ParseFailure);
        }
        let name = self.name("a name")?;
        self.need(TokenKind::Colon, "`:` after the name of the input")?;
        let prompt = match self.discretion_here() {
            Some(text) => InputPrompt::Judged(text),
            None => InputPrompt::Verbatim(self.string("a description between quotes")?),
        };
        if prompt.text().is_blank() {
            let (code, message) = match prompt {
                InputPrompt::Judged(_) => (RuleCode::HPE013, "nothing is asked here"),
                InputPrompt::Verbatim(_) => (RuleCode::HPW002, "this input is not described"),
            };
            self.reports.add(code, prompt.text().span, message);
        }
        Ok(InputStatement { name, prompt })
    }
}

/// Returns what a path refers to.
fn use_path(path: &str) -> UsePath {
    if path.starts_with("https://") || path.starts_with("http://") {
        return UsePath::Url(path.to_owned());
    }
    let is_file = ["./", "../", "/"].iter().any(|start| path.starts_with(start)) || path.ends_with(".prose");
    if is_file {
        return UsePath::File(path.to_owned());
    }
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    match path.strip_prefix('@').unwrap_or(path).split_once('/') {
        Some((handle, slug)) if is_part(handle) && is_part(slug) => {
            UsePath::Registry { handle: handle.to_owned(), slug: slug.to_owned() }
        }
        _ => UsePath::Unknown,
    }
}
