/** A typed client that an ordinary generator makes of the OpenAPI document: compiled as strictly as this repository, and run. */
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { temporaryFolder } from '../support/service.ts'
import { wallet } from '../support/trees.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MODULES = join(ROOT, 'node_modules')
/** On every cluster, the embedded chain too. */
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const LOADER = expect.stringMatching(/^BPFLoader/)

/** A folder as a user's own project would be: the program, the generated types and a compiler's settings. */
async function generateClient(): Promise<string> {
  const folder = temporaryFolder()
  symlinkSync(MODULES, join(folder, 'node_modules'))
  copyFileSync(join(import.meta.dirname, '../clients/openapi-fetch/client.ts'), join(folder, 'client.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const compilerOptions = {
    noEmit: false,
    outDir: 'out',
    rootDir: '.',
    rewriteRelativeImportExtensions: true,
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    typeRoots: [join(MODULES, '@types')],
  }
  const settings = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const hook = join(import.meta.dirname, '../clients/typescript-5.mjs')
  const generator = join(MODULES, 'openapi-typescript/bin/cli.js')
  // As a .ts file: the compiler does not look into declaration files.
  await execa('node', ['--import', hook, generator, join(ROOT, 'dist/openapi.json'), '-o', 'schema.ts'], {
    cwd: folder,
  })
  return folder
}

describe('a client that openapi-typescript and openapi-fetch make', () => {
  it('compiles in strict mode, and reads and writes through a running daemon', async () => {
    const folder = await generateClient()
    const compiled = await execa(join(MODULES, '.bin/tsc'), ['-p', folder], { cwd: folder, reject: false })
    expect([compiled.exitCode, compiled.stdout]).toEqual([0, ''])

    const daemon = await startDaemon({ dataDir: temporaryFolder(), env: { SVC_PROGRAMS_DIR: PROGRAMS_DIR } })
    onTestFinished(() => daemon.stop())
    const addresses = { PROGRAM: TOKEN_PROGRAM, PAYER: wallet(1), ABSENT: wallet(2) }
    const env = { SVC_API: daemon.url, SVC_API_KEY: daemon.operator, ...addresses }
    const { stdout } = await execa('node', ['out/client.js'], { cwd: folder, env })
    const did = JSON.parse(stdout)

    expect(did.batch).toEqual({ absentAt: 1, owners: [LOADER, null, LOADER] })
    expect(did.trees).toEqual(did.trees.map(({ id }: { id: string }) => ({ id, leaf_count: 2, total: '22' })))
    expect(did.walk).toEqual([2, 1, 0])
    expect(did.proof).toMatchObject({
      wallet: env.ABSENT,
      amount: '15',
      proof: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    })
    expect(did.token).toEqual({
      mode: 'unsigned',
      mint: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
      transactionBytes: expect.any(Number),
      keyBytes: 64,
      replayed: 'true',
      isSame: true,
    })
    expect(did.subscription).toEqual({ active: false, deleted: true })
    expect(did.failures).toEqual([
      [404, 'not_found', null],
      [400, 'bad_request', 'addresses'],
      [401, 'unauthorized', null],
    ])
  })
})
