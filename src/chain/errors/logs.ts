/** Extracts from a transaction's log the program that failed and its message. */

export interface Failure {
  /** Address of the innermost program that was running, base58. */
  programId: string
  /** Custom code of the program's `failed:` line, or null when it failed otherwise or the log ends earlier. */
  code: number | null
  anchor: { name: string; number: number; message: string; account: string | null } | null
  /** Text of the program's last `Error:` line. */
  errorLine: string | null
  /** Log lines of the runtime's own programs, which have figures and addresses. */
  notes: string[]
}

const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[([1-9]\d?)\]$/
const SUCCESS = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) success$/
const FAILED_LINE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) failed: (.*)$/
const CUSTOM = /^custom program error: 0x([0-9a-f]{1,8})$/
const ANCHOR =
  /^Program log: AnchorError (?:caused by account: (\w+)|thrown in \S+|occurred)\. Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*?)\.?$/
const ERROR_LINE = /^Program log: Error: (.+)$/

/**
 * Returns the first failure of a log, because a failing inner call ends the whole transaction. Null means that the log
 * has none.
 */
export function failureIn(logs: readonly string[]): Failure | null {
  const stack: Failure[] = []
  for (const line of logs) {
    // Program output follows `Program log: `, so it cannot imitate a line of the runtime.
    const [, invoked, depth] = INVOKE.exec(line) ?? []
    if (invoked !== undefined) {
      stack.length = Math.min(stack.length, Number(depth) - 1)
      stack.push({ programId: invoked, code: null, anchor: null, errorLine: null, notes: [] })
      continue
    }
    if (SUCCESS.test(line)) {
      stack.pop()
      continue
    }
    if (line === 'Log truncated') return null
    const [, failed, reason = ''] = FAILED_LINE.exec(line) ?? []
    const running = stack.at(-1)
    if (failed !== undefined) {
      const [, custom] = CUSTOM.exec(reason) ?? []
      const code = custom === undefined ? null : Number.parseInt(custom, 16)
      const blank: Failure = { programId: failed, code, anchor: null, errorLine: null, notes: [] }
      return running && running.programId === failed ? { ...running, code } : blank
    }
    if (running) readLine(line, running)
  }
  return stack.at(-1) ?? null
}

function readLine(line: string, running: Failure): void {
  const anchor = ANCHOR.exec(line)
  if (anchor) {
    const [, account, name = '', number, message = ''] = anchor
    running.anchor = { name, number: Number(number), message, account: account ?? null }
    return
  }
  const [, errorLine] = ERROR_LINE.exec(line) ?? []
  if (errorLine !== undefined) running.errorLine = errorLine
  else if (!line.startsWith('Program ')) running.notes.push(line)
}
