/**
 * Writes beside the packs of dist/ the code that V8 made of them, which starts commands sooner on this version of V8.
 * Another version compiles the text, as without these files.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** As .build/chunk-loader.cjs reads it. */
const CODE_ENDING = `.${process.versions.v8}-${process.arch}.code`
const RECORDER = resolve('.build/record-code.cjs')
const PROGRAM = resolve('dist/svc.js')
const LIST = { data: [], meta: { request_id: 'req_build', has_more: false, next_cursor: null } }
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const ROW = '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS,1\n'
const ENGINE = 'dist/merkle-engine.wasm'
const MINT = 'So11111111111111111111111111111111111111112'

/** Runs some commands one after the other; each adds the functions that it called to what is stored. */
export async function writeCodeCaches(packs, put) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-build-'))
  const api = createServer((_, answer) => answer.end(JSON.stringify(LIST)))
  try {
    await new Promise((listening) => api.listen(0, '127.0.0.1', listening))
    const csv = join(folder, 'recipients.csv')
    await writeFile(csv, ROW)
    const made = join(folder, 'code')
    // This one makes the database, which is no part of what most commands do.
    await run(['keys', 'list'], folder)
    const commands = [
      ['config', 'get', 'output'],
      ['keys', 'list'],
      ['keys', 'list', '--api', `http://127.0.0.1:${api.address().port}`],
      ['merkle', 'build', csv, '--mint', MINT, '--out', join(folder, 'tree.json')],
      ['merkle', 'build', csv, '--mint', MINT],
    ]
    for (const command of commands) await run(command, folder, made)
    await writeEngineCode(folder, made, put)
    for (const pack of packs) {
      const code = await readFile(join(made, pack)).catch(() => undefined)
      if (code !== undefined) await put(`dist/${pack}${CODE_ENDING}`, code)
    }
  } finally {
    api.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** V8 optimises what runs often, so this command reads as many rows as there are endings of three characters. */
async function writeEngineCode(folder, made, put) {
  const engine = `${ENGINE}${CODE_ENDING}`
  await rm(engine, { force: true })
  const csv = join(folder, 'many.csv')
  const endings = [...ALPHABET].flatMap((a) => [...ALPHABET].flatMap((b) => [...ALPHABET].map((c) => a + b + c)))
  await writeFile(csv, endings.map((ending) => ROW.replace('ajS', ending)).join(''))
  const code = join(made, 'engine')
  await run(['merkle', 'build', csv, '--mint', MINT], folder, made, { SVC_BUILD_ENGINE: code })
  const bytes = await readFile(code).catch(() => undefined)
  if (bytes !== undefined) await put(engine, bytes)
}

/** What fails here may be a missing database driver; the code is what the command came to. */
function run(command, home, code, more) {
  const recording = code === undefined ? [] : ['--require', RECORDER]
  const child = spawn(process.execPath, [...recording, PROGRAM, ...command], {
    cwd: home,
    // Options of Node in the environment would be part of what the code is for.
    env: { PATH: process.env.PATH, HOME: home, ...(code === undefined ? {} : { SVC_BUILD_CODE: code }), ...more },
    stdio: 'ignore',
  })
  return new Promise((ended) => {
    child.on('error', ended)
    child.on('close', ended)
  })
}
