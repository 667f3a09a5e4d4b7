/** `svc localnet start` as a process of its own, and what it writes and answers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type CommandLine, PROGRAM } from './command-line.ts'

/** A JSON file of a data folder. */
export const fileOf = (dataDir: string, name: string) => JSON.parse(readFileSync(join(dataDir, name), 'utf8'))

/** Resolves when it listens; the process ends with the test. */
export async function startLocalnet(cli: CommandLine, dataDir: string, flags: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'localnet', 'start', '--json', '--data-dir', dataDir, ...flags], {
    env: { ...cli.env, SVC_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(stderr)
  })
  ended.catch(() => undefined)
  const ready = (async () => {
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      stdout += chunk
      if (stdout.trimEnd().endsWith('}')) return JSON.parse(stdout)
    }
  })()
  const stop = async () => {
    child.kill('SIGTERM')
    await ended.catch(() => undefined)
    return child.exitCode
  }
  onTestFinished(async () => void (await stop()))
  return { ...(await Promise.race([ready, ended])), stop, stderr: () => stderr }
}

export async function rpc(url: string, method: string, ...params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result: unknown }).result
}
