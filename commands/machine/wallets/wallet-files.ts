/** The files of named wallets, beside the profiles: each tells its address in clear, and holds its key encrypted or none. */
import { lstatSync, rmSync } from 'node:fs'
import { z } from '@hono/zod-openapi'
import { keyFromBase58 } from '../../../src/merkle/base58.ts'
import { FileFault, makeFolders, readOwn, writeAtomically } from '../../../src/platform/files.ts'
import { isAddress, looksBase58 } from '../../../src/solana/addresses.ts'
import { keyPairOf } from '../../../src/solana/signatures.ts'
import { privateFileProblem } from '../../ui/files.ts'
import { Problem, usage } from '../../ui/problem.ts'
import { isWalletName } from '../../wallet/names.ts'
import type { NamedWallet } from '../../wallet/wallets.ts'
import { openSeed, sealedSeedSchema, sealSeed } from './encryption.ts'
import { fileOfWallet, walletsFolder } from './folder.ts'

const MAX_WALLET_BYTES = 16_384

const address = z.string().refine(isAddress)
const keyWallet = z.strictObject({
  version: z.literal(1),
  kind: z.enum(['passphrase', 'keychain']),
  address,
  key: sealedSeedSchema,
})
const commandWallet = z.strictObject({
  version: z.literal(1),
  kind: z.literal('command'),
  address,
  /** The absolute path of the program, then its arguments. */
  command: z.array(z.string().min(1).max(1024)).min(1).max(64),
})
const walletSchema = z.discriminatedUnion('kind', [keyWallet, commandWallet])
export type KeyWallet = z.infer<typeof keyWallet>
export type CommandWallet = z.infer<typeof commandWallet>
export type WalletContent = KeyWallet | CommandWallet

/** Reads the wallet of a name. Throws a problem that names its file: missing, open to others, or of another shape. */
export function readWallet(name: string): WalletContent & NamedWallet {
  // A name that is a path would lead out of the folder.
  if (!isWalletName(name)) throw noSuchWallet(name)
  const file = fileOfWallet(name)
  let text: string
  try {
    text = readOwn(file, { secret: true, maxBytes: MAX_WALLET_BYTES, folder: 'own' })
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    if (error.kind === 'missing') throw noSuchWallet(name)
    throw privateFileProblem(error)
  }
  return { ...contentOf(text, file), name, file }
}

function contentOf(text: string, file: string): WalletContent {
  const parsed = walletSchema.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  throw usage(`${file} is no wallet of this version of svc`, {
    next: 'restore it from a backup, or remove the file and import the key again',
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noSuchWallet(name: string): Problem {
  if (keyFromBase58(name) !== undefined) {
    return usage(`${name} is an address, and no key`, {
      param: '--keypair',
      next: 'name a keypair file or a wallet of `svc wallet list`; where another machine signs, use --payer ADDRESS',
    })
  }
  // This may be the key itself, which is not repeated.
  if (looksBase58(name)) {
    return usage('--keypair takes the name of a wallet or the path of a file, never the key itself', {
      param: '--keypair',
      next: '`svc wallet import NAME` takes the key',
    })
  }
  const isFile = lstatSync(name, { throwIfNoEntry: false })?.isFile() === true
  return new Problem('not_found', `there is no wallet ${name}`, {
    param: '--keypair',
    next: isFile
      ? `for the file of that name, write ./${name}`
      : '`svc wallet list` shows those there are, `svc wallet new` makes one; a keypair file is named by its path',
  })
}

/** Writes a new wallet; a conflict where the name is taken, by whoever was first. */
export function writeWallet(name: string, content: WalletContent): NamedWallet {
  const file = fileOfWallet(name)
  makeFolders(walletsFolder())
  const text = `${JSON.stringify(content, null, 2)}\n`
  if (!writeAtomically(file, text, { exclusive: true, syncFolder: true })) throw nameIsTaken(name)
  return { name, address: content.address, kind: content.kind, file }
}

/** Throws a conflict where a wallet has that name, before anybody types a passphrase for another. */
export function requireFreeName(name: string): void {
  if (lstatSync(fileOfWallet(name), { throwIfNoEntry: false }) !== undefined) throw nameIsTaken(name)
}

const nameIsTaken = (name: string) =>
  new Problem('conflict', `there is a wallet ${name} already`, {
    param: '<name>',
    next: `take another name, or \`svc wallet delete ${name}\``,
  })

export const removeWallet = ({ file }: NamedWallet): void => rmSync(file)

const contextOf = ({ version, kind, address: of }: Pick<KeyWallet, 'version' | 'kind' | 'address'>) => [
  `svc wallet ${version}`,
  kind,
  of,
]

/** The content of a wallet of this seed. */
export async function sealedWallet(kind: KeyWallet['kind'], seed: Uint8Array, passphrase: string): Promise<KeyWallet> {
  const head = { version: 1, kind, address: keyPairOf(seed).address } as const
  return { ...head, key: await sealSeed(seed, passphrase, contextOf(head)) }
}

/** The 32-byte seed of a wallet; null where the passphrase is another or the file was changed. */
export async function seedOf(wallet: KeyWallet, passphrase: string): Promise<Buffer | null> {
  const seed = await openSeed(wallet.key, passphrase, contextOf(wallet))
  return seed !== null && keyPairOf(seed).address === wallet.address ? seed : null
}
