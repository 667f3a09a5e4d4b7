/** Reads input files of commands: a path, or `-` for standard input. */
import type { FileFault } from '../../src/platform/files.ts'
import { terminal } from '../cli/terminal.ts'
import { Problem, type ProblemExtras, usage } from './problem.ts'

/** Reads the whole file; throws a usage problem that names an unreadable file. */
export async function readBytes(file: string): Promise<Uint8Array> {
  try {
    if (file === '-') return await readStdin()
    const { readFile } = await import('node:fs/promises')
    return await readFile(file)
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** The usage problem of a file, or `-`, that cannot be read. */
export const unreadable = (file: string, error: unknown) =>
  usage(`${file === '-' ? 'standard input' : file} cannot be read: ${reason(error)}`)

export async function readText(file: string): Promise<string> {
  return Buffer.from(await readBytes(file)).toString('utf8')
}

/** Reads a file of JSON; throws what `wrong` makes of a fault in it. */
export async function readJson(file: string, wrong: (fault: string) => Problem): Promise<unknown> {
  const content = await readText(file)
  try {
    return JSON.parse(content)
  } catch {
    throw wrong('it is not JSON')
  }
}

/** The problem of a private file that cannot be used: `forbidden` if others can read or replace it. */
export const privateFileProblem = ({ kind, problem, next }: FileFault, extras: ProblemExtras = {}) =>
  new Problem(kind === 'exposed' ? 'forbidden' : 'bad_request', problem, { ...extras, next })

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
}

/** The meaning of a file system error, without its code. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return (code !== undefined && REASONS[code]) || message
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of terminal().stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
