/** Runs a command inside the test's own process, with streams, an environment and a working folder of its own. */
import { EventEmitter } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { main } from '../../bin/main.ts'
import type { Host } from '../../bin/session.ts'

export interface InProcessOptions {
  env: Record<string, string>
  cwd: string
  input: string | Uint8Array
}

/** Resolves as the process would have ended; events of the real process do not reach the command. */
export async function runInProcess(argv: readonly string[], { env, cwd, input }: InProcessOptions) {
  if (argv[0] === 'serve' || (argv[0] === 'localnet' && argv[1] === 'start'))
    throw new Error(`svc ${argv.join(' ')} takes signals and files of a process: give it one of its own`)
  const [stdout, stderr] = [collector(), collector()]
  const events = new EventEmitter()
  let exit: (code: number) => void = () => undefined
  const exited = new Promise<number>((settle) => {
    exit = settle
  })
  const host: Host = Object.assign(events, {
    env,
    cwd: () => cwd,
    stdin: Readable.from(input.length === 0 ? [] : [Buffer.from(input)], { objectMode: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    exit,
  })
  const exitCode = await Promise.race([main(argv, host), exited])
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
