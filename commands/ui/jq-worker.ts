/** The entry of the thread that runs `--jq`. It gets the answer and the expression, but no files and no environment. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { loadJq } from 'jq-wasm'

export interface JqRequest {
  /** The JSON of the answer; empty to only parse the expression. */
  json: string
  expression: string
}

/** The output of jq: its results, one JSON per line, its messages, and its exit code. */
export interface JqAnswer {
  stdout: string
  stderr: string
  exitCode: number
}

const loading = loadJq({ wasmBinary: readFileSync(join(import.meta.dirname, 'jq.wasm')) })

parentPort?.on('message', async ({ json, expression }: JqRequest) => {
  // Otherwise jq would read an expression that begins with a dash as an option.
  const query = expression.startsWith('-') ? ` ${expression}` : expression
  try {
    parentPort?.postMessage((await loading).raw(json, query, ['-c']) satisfies JqAnswer)
  } catch (error) {
    // WebAssembly ran out of its memory or its stack.
    parentPort?.postMessage({ stdout: '', stderr: `jq: error: ${String(error)}`, exitCode: 5 } satisfies JqAnswer)
  }
})
