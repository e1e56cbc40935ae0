//! How to start each agent for a single prompt, with the scripted model in place of its own.
//!
//! Contains facts about other programs, observed with Claude Code 2.1.330, Codex 0.169.0, opencode 1.18.33 and Gemini
//! CLI 0.61.0 (November 2026).

use std::io::{self, Write as _};
use std::path::PathBuf;

use serde_json::json;
use tokio::process::Command;

use crate::agents::AgentProgram;
use crate::paths::Places;

/// How to start an agent.
pub(super) struct Start<'a> {
    pub(super) agent: AgentProgram,
    /// The model's port on loopback.
    pub(super) port: u16,
    pub(super) prompt: String,
    pub(super) places: &'a Places,
}

/// A settings file that an agent reads while it runs; removed when dropped.
pub(super) struct Settings(PathBuf);

impl Drop for Settings {
    fn drop(&mut self) {
        // It is in a folder that is emptied anyway.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Start<'_> {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the agent's arguments.
    pub(super) fn args(&self) -> Vec<String> {
        let prompt = self.prompt.as_str();
        let settings = json!({ "env": { "ANTHROPIC_BASE_URL": self.url() } }).to_string();
        let words: Vec<&str> = match self.agent {
            AgentProgram::Claude => vec![
                "-p",
                prompt,
                "--settings",
                &settings,
                "--strict-mcp-config",
                "--no-session-persistence",
                "--allowedTools",
                "Bash",
            ],
            AgentProgram::Codex => return self.codex(),
            AgentProgram::Gemini => vec!["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt],
            _ => vec!["run", prompt],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// Runs without a sandbox: what Codex sandboxes, its own server always runs.
    fn codex(&self) -> Vec<String> {
        let provider = [
            "model=\"gpt-5.5\"".to_owned(),
            "model_provider=\"scripted\"".to_owned(),
            "model_providers.scripted.name=\"scripted\"".to_owned(),
            format!("model_providers.scripted.base_url=\"{}/v1\"", self.url()),
            "model_providers.scripted.wire_api=\"responses\"".to_owned(),
            "model_providers.scripted.request_max_retries=0".to_owned(),
            "model_providers.scripted.stream_max_retries=0".to_owned(),
            "model_providers.scripted.supports_websockets=false".to_owned(),
            "features.shell_tool=true".to_owned(),
        ];
        let head =
            ["exec", "--skip-git-repo-check", "--ephemeral", "--dangerously-bypass-approvals-and-sandbox"];
        let set = provider.into_iter().flat_map(|one| ["-c".to_owned(), one]);
        head.map(str::to_owned).into_iter().chain(set).chain([self.prompt.clone()]).collect()
    }

    /// Sets the variables that direct an agent to the model, and writes the settings file if no variable can do that.
    pub(super) fn prepare(&self, command: &mut Command) -> io::Result<Option<Settings>> {
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env_remove(name);
        }
        command.env("NO_PROXY", "127.0.0.1");
        match self.agent {
            AgentProgram::Claude => {
                for name in ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"] {
                    command.env_remove(name);
                }
                command.env("ANTHROPIC_BASE_URL", self.url()).env("ANTHROPIC_API_KEY", "none");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
                Ok(None)
            }
            AgentProgram::Gemini => {
                command.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", self.url());
                let settings = json!({
                    "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
                    "telemetry": { "enabled": false }, "general": { "enableAutoUpdate": false },
                });
                let file = self.places.runtime_dir.join(format!("doctor-{}.json", std::process::id()));
                crate::files::create_folder(&self.places.runtime_dir)?;
                crate::files::create_new(&file)?.write_all(settings.to_string().as_bytes())?;
                command.env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &file);
                Ok(Some(Settings(file)))
            }
            AgentProgram::Codex => Ok(None),
            _ => {
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "scripted",
                    "options": { "baseURL": format!("{}/v1", self.url()), "apiKey": "none" },
                    "models": { "m": { "name": "m", "limit": { "context": 100_000, "output": 4_000 } } },
                });
                let config = json!({
                    "model": "scripted/m", "small_model": "scripted/m", "autoupdate": false, "share": "disabled",
                    "provider": { "scripted": provider }, "permission": { "bash": "allow" },
                });
                command.env("OPENCODE_CONFIG_CONTENT", config.to_string());
                Ok(None)
            }
        }
    }
}
