/** Native modules that do not load, in a copy of the installation: each is reported in words, with the command that fixes it. */
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MODULES = join(ROOT, 'node_modules')
const OLDER = 'better-sqlite3'
const NEWER = 'better-sqlite3-13'
const MAJOR = Number.parseInt(process.versions.node, 10)
/** From Node.js 24 on only the newer one runs, as in src/platform/native-modules.ts; on 22 both do. */
const usesNewer = MAJOR >= 24
const SQLITE = usesNewer ? NEWER : OLDER
const SQLITE_BINARY = `${SQLITE}/${usesNewer ? `prebuilds/${process.platform}-${process.arch}.node` : 'build/Release/better_sqlite3.node'}`
const SVM = readdirSync(MODULES).find((name) => name.startsWith(`litesvm-${process.platform}-${process.arch}`))

/** An installation whose packages are those of the clone, but for one of its own. */
function installationWith(own: string): { folder: string; modules: string } {
  const folder = temporaryFolder()
  const modules = join(folder, 'node_modules')
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  mkdirSync(modules)
  for (const name of readdirSync(MODULES)) {
    if (name !== own && !name.startsWith('.')) symlinkSync(join(MODULES, name), join(modules, name))
  }
  return { folder, modules }
}

async function svc(folder: string, ...args: string[]) {
  return svcWith({}, folder, ...args)
}

async function svcWith(extra: Record<string, string>, folder: string, ...args: string[]) {
  const own = { HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config') }
  const options = { cwd: folder, env: { ...own, ...extra }, reject: false, timeout: 60_000 } as const
  const { exitCode, stdout, stderr } = await execa('node', [join(folder, 'dist/svc.js'), ...args], options)
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |not expected|Listening/)
  return { exitCode, stdout, stderr }
}

/** This machine's own binary as one that another Node.js would load: its version in the struct and in the symbol's name. */
function builtForAnother(binary: Buffer): Buffer {
  const [own, other] = [Number(process.versions.modules), 42]
  const text = binary
    .toString('latin1')
    .replaceAll(`node_register_module_v${own}`, `node_register_module_v${other}0`.slice(0, 22 + String(own).length))
  const patched = Buffer.from(text, 'latin1')
  const head = Buffer.alloc(16)
  head.writeInt32LE(own)
  for (let at = patched.indexOf(head); at >= 0; at = patched.indexOf(head, at + 4)) {
    if (at % 8 === 0) patched.writeInt32LE(other, at)
  }
  return patched
}

/** An ELF header names its machine in the bytes 18 and 19; 8 is MIPS. */
const forAnotherMachine = (binary: Buffer) =>
  Buffer.concat([binary.subarray(0, 18), Buffer.from([8, 0]), binary.subarray(20)])

const COMMANDS = [
  ['keys', 'list'],
  ['localnet', 'status'],
  ['serve', '--port', '0', '--rpc-port', '0'],
]

describe.skipIf(MAJOR === 22)('SQLite', () => {
  const real = readFileSync(join(MODULES, SQLITE_BINARY))

  /** An installation with this binary of SQLite, or with none. */
  function withBinary(binary: Buffer | null): string {
    const { folder, modules } = installationWith(SQLITE)
    for (const part of ['lib', 'package.json']) {
      cpSync(join(MODULES, SQLITE, part), join(modules, SQLITE, part), { recursive: true })
    }
    if (binary !== null) {
      mkdirSync(dirname(join(modules, SQLITE_BINARY)), { recursive: true })
      writeFileSync(join(modules, SQLITE_BINARY), binary)
    }
    return folder
  }

  // A binary of Node-API is not built for a version.
  it.skipIf(usesNewer)('built for another Node.js stops each command that needs it, and no other', async () => {
    const folder = withBinary(builtForAnother(real))
    for (const args of COMMANDS) {
      const { exitCode, stderr } = await svc(folder, ...args)
      expect([args, exitCode]).toEqual([args, 1])
      expect(stderr).toMatch(/was built for another Node\.js \(module version 42\) than this one \(v/)
      expect(stderr).toContain(`npm rebuild better-sqlite3 --prefix ${folder}`)
      expect(stderr).toContain('python3, make and a C++ compiler')
    }
    const { stderr } = await svc(folder, 'keys', 'list', '--json')
    expect(JSON.parse(stderr).error.message).toContain('npm rebuild better-sqlite3')
    expect(await svc(folder, '--version')).toMatchObject({ exitCode: 0 })
  })

  it.each<[string, Buffer | null, RegExp]>([
    ['is not a library', Buffer.from('hello'), /does not load on \S+ \(/],
    ['ends too early', real.subarray(0, 40), /does not load on \S+ \(/],
    ['is for another machine', forAnotherMachine(real), /does not load on \S+ \(/],
    ['is missing', null, /for \S+ is missing/],
  ])('whose binary %s is reported with what to do', async (_, binary, problem) => {
    const folder = withBinary(binary)
    const { exitCode, stderr } = await svc(folder, 'keys', 'list')
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(problem)])
    expect(stderr).toContain(usesNewer ? 'install svc again, with' : `npm rebuild better-sqlite3 --prefix ${folder}`)
  })

  describe.skipIf(MAJOR >= 22)('in a process that reports another version of Node.js', () => {
    /** Says another version in the process that it is loaded into. */
    const reporting = (version: string) => {
      const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
      return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
    }
    const under24 = reporting('24.21.0')

    it('is loaded from the newer package on Node.js 22, or else from the older one', async () => {
      const newerAlone = installationWith(OLDER)
      symlinkSync(join(MODULES, OLDER), join(newerAlone.modules, 'sqlite'))
      rmSync(join(newerAlone.modules, NEWER), { force: true })
      symlinkSync('sqlite', join(newerAlone.modules, NEWER))
      const olderAlone = installationWith(NEWER)
      for (const { folder } of [newerAlone, olderAlone])
        expect(await svcWith(reporting('22.21.0'), folder, 'keys', 'list')).toMatchObject({ exitCode: 0 })
      // Version 13 crashes there.
      const { stderr } = await svcWith(reporting('22.13.0'), newerAlone.folder, 'keys', 'list')
      expect(stderr).toMatch(/the binary of better-sqlite3 for \S+ is missing/)
      expect(stderr).toContain('install svc again with Node.js 22.14 or newer, which needs no compiler')
    })

    it('is loaded from the newer package, never from the older one, which would abort', async () => {
      const { folder, modules } = installationWith(OLDER)
      symlinkSync(join(MODULES, OLDER), join(modules, 'sqlite'))
      rmSync(join(modules, NEWER), { force: true })
      symlinkSync('sqlite', join(modules, NEWER))
      expect(await svcWith(under24, folder, 'keys', 'list')).toMatchObject({ exitCode: 0 })
      const { exitCode, stderr } = await svc(folder, 'keys', 'list')
      expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/the binary of better-sqlite3 for \S+ is missing/)])
    })

    it('without the newer package is reported with what to do', async () => {
      const { folder } = installationWith(NEWER)
      for (const args of COMMANDS) {
        const { exitCode, stderr } = await svcWith(under24, folder, ...args)
        expect([args, exitCode]).toEqual([args, 1])
        expect(stderr).toMatch(/the binary of better-sqlite3-13 for \S+ is missing/)
        expect(stderr).toMatch(/npm install --global --include=optional …`.*or run it with Node\.js 22/s)
      }
      const doctor = await svcWith(under24, folder, 'doctor', '-o', 'plain')
      expect([doctor.exitCode, doctor.stdout]).toEqual([
        1,
        expect.stringMatching(/^fail\tdatabase\t.*better-sqlite3-13/m),
      ])
    })
  })
})

describe.skipIf(SVM === undefined)('the embedded chain', () => {
  it.each<[string, boolean, RegExp]>([
    ['is not a library', true, /the binary of litesvm does not load on \S+ \(/],
    ['is missing', false, /the binary of litesvm for \S+ is missing/],
  ])('whose binary %s is reported with what to do', async (_, present, problem) => {
    const { folder, modules } = installationWith('litesvm')
    // Where packages are links, the copy is of what the link leads to.
    cpSync(realpathSync(join(MODULES, 'litesvm')), join(modules, 'litesvm'), { recursive: true })
    rmSync(join(modules, SVM!))
    if (present) {
      cpSync(join(MODULES, SVM!, 'package.json'), join(modules, SVM!, 'package.json'))
      const { main } = JSON.parse(readFileSync(join(MODULES, SVM!, 'package.json'), 'utf8'))
      writeFileSync(join(modules, SVM!, main), 'hello')
    }
    for (const args of COMMANDS.slice(1)) {
      const { exitCode, stderr } = await svc(folder, ...args)
      expect([args, exitCode]).toEqual([args, 1])
      expect(stderr).toMatch(problem)
      expect(stderr).toMatch(/install svc again, with optional dependencies|-u devnet/)
    }
    expect(await svc(folder, 'keys', 'list')).toMatchObject({ exitCode: 0 })
  })
})
