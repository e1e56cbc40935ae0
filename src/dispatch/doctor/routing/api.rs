//! A scripted model that asks for one command, using the API that the agent speaks. Pure.

use serde_json::{Value, json};

use crate::agents::AgentProgram;

/// The model's reply once it has the result.
const DONE: &str = "Done.";

/// What the model should do.
#[derive(Debug, Clone)]
pub(super) struct ModelScript {
    /// A marker that appears in the prompt and the command and nowhere else.
    pub(super) mark: String,
    /// The command to ask for.
    pub(super) command: String,
}

/// The API that a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelApi {
    /// Anthropic's Messages API: Claude Code.
    Messages,
    /// OpenAI's Responses API: Codex.
    Responses,
    /// OpenAI's Chat Completions API: opencode.
    Chat,
    /// Google's `generateContent`: Gemini CLI.
    Contents,
}

/// A response: its body and content type, whether it answers the prompt, and the command's result if the agent sent it
/// to the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelAnswer {
    pub(super) content_type: &'static str,
    pub(super) body: String,
    pub(super) is_to_prompt: bool,
    pub(super) result: Option<String>,
}

impl ModelAnswer {
    fn json(value: &Value) -> Self {
        Self { content_type: "application/json", body: value.to_string(), is_to_prompt: false, result: None }
    }

    fn events(events: &[(Option<&str>, String)]) -> Self {
        let line = |(name, data): &(Option<&str>, String)| {
            let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
            format!("{name}data: {data}\n\n")
        };
        let body = events.iter().map(line).collect();
        Self { content_type: "text/event-stream", body, is_to_prompt: false, result: None }
    }
}

/// Returns whether a tool is an agent's own shell.
fn is_shell_tool(name: &str) -> bool {
    AgentProgram::routed_programs()
        .any(|(_, shell)| shell.trial.is_some_and(|trial| trial.tools.contains(&name)))
}

/// Answers a request. Anything that is not a query to a model is answered with an empty object.
pub(super) fn answer(path: &str, body: &Value, script: &ModelScript) -> ModelAnswer {
    let Some(api) = ModelApi::of(path) else {
        return ModelAnswer::json(&json!({ "data": [], "models": [] }));
    };
    if path.contains("count_tokens") || path.contains("countTokens") {
        return ModelAnswer::json(&json!({ "input_tokens": 10, "totalTokens": 10 }));
    }
    let tool = api.tools(body).into_iter().find(|name| is_shell_tool(name));
    let is_ours = body.to_string().contains(&script.mark);
    let result = api.result(body);
    let call = tool.filter(|_| is_ours && result.is_none()).map(|tool| {
        let arguments = match tool.as_str() {
            "exec_command" => json!({ "cmd": script.command }),
            "shell" => json!({ "command": ["bash", "-c", script.command] }),
            "run_commands" => json!({ "commands": [script.command] }),
            _ => json!({ "command": script.command, "description": "Check the routing" }),
        };
        (tool, arguments)
    });
    ModelAnswer { is_to_prompt: is_ours, result: result.filter(|_| is_ours), ..api.reply(body, call) }
}

impl ModelApi {
    fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        if path.contains("/v1/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else {
            path.to_ascii_lowercase().contains("generatecontent").then_some(Self::Contents)
        }
    }

    /// Returns the names of the tools offered to the model.
    fn tools(self, body: &Value) -> Vec<String> {
        let name = |tool: &Value| match self {
            Self::Chat => tool["function"]["name"].as_str().map(str::to_owned),
            _ => tool["name"].as_str().map(str::to_owned),
        };
        let tools = body["tools"].as_array().into_iter().flatten();
        match self {
            Self::Contents => {
                let declared = tools.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
                declared.filter_map(name).collect()
            }
            _ => tools.filter_map(name).collect(),
        }
    }

    /// Returns the tool result that the agent sends to its model.
    fn result(self, body: &Value) -> Option<String> {
        let within = |list: &Value, key: &str| -> Vec<Value> {
            let list = list.as_array().into_iter().flatten();
            list.filter_map(|one| one[key].as_array()).flatten().cloned().collect()
        };
        match self {
            Self::Messages => {
                let parts = within(&body["messages"], "content");
                parts.iter().find(|part| part["type"] == "tool_result").map(|part| text(&part["content"]))
            }
            Self::Responses => {
                let mut items = body["input"].as_array()?.iter();
                let is_output =
                    |item: &&Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("call_output"));
                items.find(is_output).map(|item| text(&item["output"]))
            }
            Self::Chat => {
                let mut messages = body["messages"].as_array()?.iter();
                messages.find(|message| message["role"] == "tool").map(|message| text(&message["content"]))
            }
            Self::Contents => {
                let parts = within(&body["contents"], "parts");
                let given = |part: &Value| part.get("functionResponse").map(|given| text(&given["response"]));
                parts.iter().find_map(given)
            }
        }
    }

    fn reply(self, body: &Value, call: Option<(String, Value)>) -> ModelAnswer {
        match self {
            Self::Messages => messages(body, call),
            Self::Responses => responses(call),
            Self::Chat => chat(body, call),
            Self::Contents => {
                let part = match call {
                    Some((name, args)) => json!({ "functionCall": { "name": name, "args": args } }),
                    None => json!({ "text": DONE }),
                };
                let content = json!({ "role": "model", "parts": [part] });
                let usage = json!({ "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 });
                let whole = json!({
                    "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
                    "usageMetadata": usage, "modelVersion": "scripted",
                });
                ModelAnswer::events(&[(None, whole.to_string())])
            }
        }
    }
}

fn messages(body: &Value, call: Option<(String, Value)>) -> ModelAnswer {
    let stop = if call.is_some() { "tool_use" } else { "end_turn" };
    let (block, empty, delta) = match call {
        Some((name, input)) => {
            let block =
                |input: &Value| json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": input });
            let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
            (block(&input), block(&json!({})), delta)
        }
        None => (
            json!({ "type": "text", "text": DONE }),
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": DONE }),
        ),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = |content: Value, stop: Option<&str>| {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        })
    };
    if body["stream"] != true {
        return ModelAnswer::json(&message(json!([block]), Some(stop)));
    }
    let end = json!({ "stop_reason": stop, "stop_sequence": null });
    let events = [
        json!({ "type": "message_start", "message": message(json!([]), None) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": empty }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let named = events.iter().map(|event| (event["type"].as_str(), event.to_string()));
    ModelAnswer::events(&named.collect::<Vec<_>>())
}

fn responses(call: Option<(String, Value)>) -> ModelAnswer {
    let item = match call {
        Some((name, arguments)) => json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": arguments.to_string(),
        }),
        None => json!({
            "type": "message", "id": "m_1", "role": "assistant",
            "content": [{ "type": "output_text", "text": DONE, "annotations": [] }],
        }),
    };
    let usage = json!({
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": { "cached_tokens": 0 }, "output_tokens_details": { "reasoning_tokens": 0 },
    });
    let whole = json!({ "id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage });
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp_1" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": whole }),
    ];
    let named = events.iter().map(|event| (event["type"].as_str(), event.to_string()));
    ModelAnswer::events(&named.collect::<Vec<_>>())
}

fn chat(body: &Value, call: Option<(String, Value)>) -> ModelAnswer {
    let reason = if call.is_some() { "tool_calls" } else { "stop" };
    let message = match call {
        Some((name, arguments)) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
        None => json!({ "role": "assistant", "content": DONE }),
    };
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    let of = |object: &str, choice: Value| {
        json!({
            "id": "c_1", "created": 1, "model": body["model"], "object": object, "choices": [choice], "usage": usage,
        })
    };
    if body["stream"] != true {
        let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
        return ModelAnswer::json(&of("chat.completion", choice));
    }
    let first = json!({ "index": 0, "delta": message, "finish_reason": null });
    let last = json!({ "index": 0, "delta": {}, "finish_reason": reason });
    let chunk = |choice| (None, of("chat.completion.chunk", choice).to_string());
    ModelAnswer::events(&[chunk(first), chunk(last), (None, "[DONE]".to_owned())])
}

/// Returns the text in a result's content, whatever its form.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(part.get("text").unwrap_or(part))).collect(),
        Value::Object(map) if map.len() == 1 && map.contains_key("output") => text(&map["output"]),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> ModelScript {
        ModelScript { mark: "mark-1".to_owned(), command: "echo mark-1".to_owned() }
    }

    /// Returns a request of each API: one with the agent's tool and the prompt, and one that also has a result.
    fn requests() -> [(&'static str, Value, Value); 4] {
        [
            (
                "/v1/messages?beta=true",
                json!({ "stream": true, "tools": [{ "name": "Read" }, { "name": "Bash" }], "messages": [{ "role": "user", "content": "mark-1" }] }),
                json!({ "messages": [{ "role": "user", "content": [{ "type": "tool_result", "content": [{ "type": "text", "text": "given" }] }] }, "mark-1"] }),
            ),
            (
                "/v1/responses",
                json!({ "tools": [{ "type": "function", "name": "exec_command" }], "input": [{ "text": "mark-1" }] }),
                json!({ "input": [{ "text": "mark-1" }, { "type": "function_call_output", "output": "given" }] }),
            ),
            (
                "/v1/chat/completions",
                json!({ "stream": true, "tools": [{ "function": { "name": "bash" } }], "messages": [{ "role": "user", "content": "mark-1" }] }),
                json!({ "messages": [{ "role": "user", "content": "mark-1" }, { "role": "tool", "content": "given" }] }),
            ),
            (
                "/v1beta/models/gemini:streamGenerateContent",
                json!({ "tools": [{ "functionDeclarations": [{ "name": "run_shell_command" }] }], "contents": [{ "parts": [{ "text": "mark-1" }] }] }),
                json!({ "contents": [{ "parts": [{ "text": "mark-1" }] }, { "parts": [{ "functionResponse": { "response": { "output": "given" } } }] }] }),
            ),
        ]
    }

    #[test]
    fn each_api_is_asked_for_the_command_once_and_its_result_is_read() {
        for (path, asked, told) in requests() {
            let call = answer(path, &asked, &script());
            assert!(call.body.contains("echo mark-1") && call.result.is_none(), "{path} {call:?}");
            let end = answer(path, &told, &script());
            assert!(end.body.contains(DONE) && !end.body.contains("echo mark-1"), "{path} {end:?}");
            assert_eq!(end.result.as_deref(), Some("given"), "{path}");
        }
    }

    #[test]
    fn a_request_without_the_prompt_gets_no_command() {
        for (path, mut asked, _) in requests() {
            asked =
                serde_json::from_str(&asked.to_string().replace("mark-1", "a title, please")).expect("JSON");
            let other = answer(path, &asked, &script());
            assert!(other.body.contains(DONE) && other.result.is_none(), "{path} {other:?}");
        }
        assert_eq!(answer("/v1/models", &Value::Null, &script()).content_type, "application/json");
    }
}
