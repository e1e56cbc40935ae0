// How Pilothouse's plugins start its hook with a report. What the hook prints is its answer.
import { spawn } from "node:child_process"

const HOOK = "pilothouse hook"

function startHook(report, cwd) {
  let printed = ""
  const child = spawn(HOOK[0], HOOK.slice(1), { cwd, stdio: ["pipe", "pipe", "ignore"] })
  const answer = new Promise((resolve) => {
    child.on("error", () => resolve())
    child.on("close", () => {
      try {
        resolve(JSON.parse(printed))
      } catch {
        resolve()
      }
    })
  })
  child.stdout.on("data", (data) => (printed += data))
  child.stdin.on("error", () => {})
  child.stdin.end(JSON.stringify(report))
  return { child, answer }
}

