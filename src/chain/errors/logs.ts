/** Reads out of a transaction's log which program failed and what it said about it. */

export interface Failure {
  /** The innermost program that was running, base58. */
  programId: string
  /** Custom code of its `failed:` line; null when it failed otherwise or the log ends before that line. */
  code: number | null
  anchor: { name: string; number: number; message: string; account: string | null } | null
  /** What its last `Error:` line says. */
  said: string | null
  /** Lines that the runtime's own programs wrote, for figures and addresses. */
  notes: string[]
}

const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[([1-9]\d?)\]$/
const SUCCESS = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) success$/
const FAILED_LINE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) failed: (.*)$/
const CUSTOM = /^custom program error: 0x([0-9a-f]{1,8})$/
const ANCHOR =
  /^Program log: AnchorError (?:caused by account: (\w+)|thrown in \S+|occurred)\. Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*?)\.?$/
const SAID = /^Program log: Error: (.+)$/

/** The first failure of a log: a failing inner call ends the whole transaction. Null when the log shows none. */
export function failureIn(logs: readonly string[]): Failure | null {
  const stack: Failure[] = []
  for (const line of logs) {
    // What a program logs stands behind `Program log: `, so it cannot pass for a line of the runtime.
    const invoked = INVOKE.exec(line)
    if (invoked) {
      stack.length = Math.min(stack.length, Number(invoked[2]) - 1)
      stack.push({ programId: invoked[1]!, code: null, anchor: null, said: null, notes: [] })
      continue
    }
    if (SUCCESS.test(line)) {
      stack.pop()
      continue
    }
    if (line === 'Log truncated') return null
    const failed = FAILED_LINE.exec(line)
    const running = stack.at(-1)
    if (failed) {
      const custom = CUSTOM.exec(failed[2]!)
      const code = custom ? Number.parseInt(custom[1]!, 16) : null
      const blank: Failure = { programId: failed[1]!, code, anchor: null, said: null, notes: [] }
      return running && running.programId === failed[1] ? { ...running, code } : blank
    }
    if (running) readLine(line, running)
  }
  return stack.at(-1) ?? null
}

function readLine(line: string, running: Failure): void {
  const anchor = ANCHOR.exec(line)
  if (anchor) {
    const [, account, name, number, message] = anchor
    running.anchor = { name: name!, number: Number(number), message: message!, account: account ?? null }
    return
  }
  const said = SAID.exec(line)
  if (said) running.said = said[1]!
  else if (!line.startsWith('Program ')) running.notes.push(line)
}
