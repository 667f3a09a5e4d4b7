/** Loads the packages with a native part, and explains why one does not load and how to fix that. */
import { dirname, resolve } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { ApiError } from './errors.ts'

type Sqlite = typeof BetterSqlite3
type Svm = typeof import('litesvm/dist/internal.js')

/** A native module that is missing, or whose binary does not load here; `next` is a command that fixes it. */
export class NativeModuleFault extends ApiError {
  /** The problem without the remedy, which is in `next`; the message contains both. */
  readonly problem: string
  readonly next: string

  constructor(problem: string, next: string, cause: unknown) {
    super('internal_error', `${problem}; ${next}`, { cause })
    this.problem = problem
    this.next = next
  }
}

const [NODE_MAJOR = 0, NODE_MINOR = 0] = process.versions.node.split('.').map(Number)
/**
 * The packages of SQLite that run here, best first. Version 13 (Node-API) contains its binaries, and crashes before
 * Node.js 22.14 (WiseLibs/better-sqlite3#1514). Version 12 aborts the process during garbage collection from Node.js 24
 * on (nodejs/node#65446).
 */
const SQLITES = [
  ...(NODE_MAJOR > 22 || (NODE_MAJOR === 22 && NODE_MINOR >= 14) ? ['better-sqlite3-13'] : []),
  ...(NODE_MAJOR < 24 ? ['better-sqlite3'] : []),
]
const PLATFORM = `${process.platform}-${process.arch}`
/** Platforms for which litesvm has a binary, as of 1.4.1. */
const SVM_PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

let sqlite: Sqlite | undefined
// The second attempt to load a binary fails with another message than the first.
let refusal: unknown

/** Returns SQLite's constructor. Throws NativeModuleFault if no binary of it loads. */
export function loadSqlite(): Sqlite {
  if (sqlite !== undefined) return sqlite
  if (refusal !== undefined) throw refusal
  // Most commands that import this file open no database.
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)
  for (const name of SQLITES) {
    try {
      const Database: Sqlite = require(name)
      // The package loads its binary when the first database is opened.
      new Database(':memory:').close()
      sqlite = Database
      return Database
    } catch (error) {
      refusal = fault(name, error, () => sqliteRemedy(require))
    }
  }
  throw refusal
}

/** Loads the runtime of the embedded chain. Throws NativeModuleFault if its binary does not load. */
export async function loadSvm(): Promise<Svm> {
  try {
    const { default: native } = await import('litesvm/dist/internal.js')
    return native
  } catch (error) {
    throw fault('litesvm', error, svmRemedy)
  }
}

/** The failure in words; an error that is not about loading is returned unchanged. */
function fault(name: string, error: unknown, remedy: () => string): unknown {
  const causes = causesOf(error)
  const refused = causes.find(isRefusal)
  if (refused !== undefined) return new NativeModuleFault(whyRefused(name, refused.message), remedy(), error)
  const isMissing = ({ code, message }: NodeJS.ErrnoException) =>
    code === 'MODULE_NOT_FOUND' || /^(Could not locate the bindings file|Cannot find native binding)/.test(message)
  if (!causes.some(isMissing)) return error
  return new NativeModuleFault(`the binary of ${name} for ${PLATFORM} is missing`, remedy(), error)
}

/** The loader's own error, or only its message, because litesvm passes on only the message. */
const isRefusal = ({ code, message }: NodeJS.ErrnoException) =>
  code === 'ERR_DLOPEN_FAILED' || /^(?!Cannot find)[^\n]*\.node['"]?(:|,| is not| was compiled)/.test(message)

function causesOf(error: unknown): NodeJS.ErrnoException[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : []
}

function whyRefused(name: string, message: string): string {
  const built = /NODE_MODULE_VERSION (\d+)/.exec(message)
  if (built !== null)
    return `the binary of ${name} was built for another Node.js (module version ${built[1]}) than this one (${process.version}, ${process.versions.modules})`
  // The loader's message starts with the path of the file.
  const why = message.split('\n', 1)[0]?.replace(/^\S*\.node:?\s*/, '') ?? ''
  return `the binary of ${name} does not load on ${PLATFORM} (${why.slice(0, 120)})`
}

const INSTALL_AGAIN =
  'install svc again, with optional dependencies (`npm install --global --include=optional …`, in a clone `npm ci`)'

/**
 * Version 12 is rebuilt in place: npm downloads its prebuilt binary, or compiles it. Version 13 contains its binaries.
 */
function sqliteRemedy(require: NodeJS.Require): string {
  if (NODE_MAJOR >= 24) return `${INSTALL_AGAIN}, under this Node.js, or run it with Node.js 22`
  try {
    const folder = resolve(dirname(require.resolve('better-sqlite3/package.json')), '../..')
    const shown = /^[\w./\\:@-]+$/.test(folder) ? folder : JSON.stringify(folder)
    return `run \`npm rebuild better-sqlite3 --prefix ${shown}\`; if there is no prebuilt binary, this compiles it, which needs python3, make and a C++ compiler`
  } catch {
    // npm has left version 12 out: it has no prebuilt binary here, and could not be compiled.
    if (SQLITES.length > 1) return INSTALL_AGAIN
    return 'install svc again with Node.js 22.14 or newer, which needs no compiler, or install python3, make and a C++ compiler first'
  }
}

function svmRemedy(): string {
  const cluster = 'choose a cluster instead of the embedded chain: -u devnet, -u mainnet-beta or an RPC URL'
  if (!SVM_PLATFORMS.includes(PLATFORM)) return cluster
  return `${INSTALL_AGAIN}, or ${cluster}`
}
