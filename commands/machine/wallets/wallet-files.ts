/**
 * Reads and writes the files of named wallets, beside the profiles: each has its address in clear, and its key
 * encrypted or no key.
 */
import { lstatSync, rmSync } from 'node:fs'
import { z } from '@hono/zod-openapi'
import { keyFromBase58 } from '../../../src/merkle/base58.ts'
import { FileFault, makeFolders, readOwn, writeAtomically } from '../../../src/platform/files.ts'
import { isAddress, looksBase58 } from '../../../src/solana/addresses.ts'
import { keyPairOf } from '../../../src/solana/signatures.ts'
import { privateFileProblem } from '../../ui/files.ts'
import { Problem, usage } from '../../ui/problem.ts'
import { isDeviceUrl, isWalletName } from '../../wallet/names.ts'
import type { NamedWallet } from '../../wallet/wallets.ts'
import { openSecret, sealedSecretSchema, sealSecret } from '../encryption.ts'
import { fileOfWallet, walletsFolder } from './folder.ts'

const MAX_WALLET_BYTES = 16_384

const address = z.string().refine(isAddress)
const keyWallet = z.strictObject({
  version: z.literal(1),
  kind: z.enum(['passphrase', 'keychain']),
  address,
  key: sealedSecretSchema,
})
const commandWallet = z.strictObject({
  version: z.literal(1),
  kind: z.literal('command'),
  address,
  /** The absolute path of the program, then its arguments. */
  command: z.array(z.string().min(1).max(1024)).min(1).max(64),
})
const ledgerWallet = z.strictObject({
  version: z.literal(1),
  kind: z.literal('ledger'),
  address,
  /** `usb://ledger…` */
  url: z.string().max(200).refine(isDeviceUrl),
})
const walletSchema = z.discriminatedUnion('kind', [keyWallet, commandWallet, ledgerWallet])
export type KeyWallet = z.infer<typeof keyWallet>
export type CommandWallet = z.infer<typeof commandWallet>
export type WalletContent = KeyWallet | CommandWallet | z.infer<typeof ledgerWallet>

/** Reads the wallet of a name. Throws a problem that names its file if it is missing, open to others, or invalid. */
export function readWallet(name: string): WalletContent & NamedWallet {
  // A name with a path could point outside the folder.
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
  throw usage(`${file} is not a wallet of this version of svc`, {
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
    return usage(`${name} is an address, not a key`, {
      param: '--keypair',
      next: 'name a keypair file or a wallet of `svc wallet list`; use --payer ADDRESS if another machine signs',
    })
  }
  // This may be the key itself, so it is not repeated.
  if (looksBase58(name)) {
    return usage('--keypair takes the name of a wallet or the path of a file, never the key itself', {
      param: '--keypair',
      next: '`svc wallet import NAME` imports a key',
    })
  }
  const isFile = lstatSync(name, { throwIfNoEntry: false })?.isFile() === true
  return new Problem('not_found', `there is no wallet ${name}`, {
    param: '--keypair',
    next: isFile
      ? `for the file of that name, write ./${name}`
      : '`svc wallet list` shows all, `svc wallet new` makes one; name a keypair file by its path',
  })
}

/** Writes a new wallet; throws a conflict if the name is taken. */
export function writeWallet(name: string, content: WalletContent): NamedWallet {
  const file = fileOfWallet(name)
  makeFolders(walletsFolder())
  const text = `${JSON.stringify(content, null, 2)}\n`
  if (!writeAtomically(file, text, { exclusive: true, syncFolder: true })) throw nameIsTaken(name)
  return { name, address: content.address, kind: content.kind, file }
}

/** Throws a conflict if a wallet has that name, before the user types a passphrase for a new one. */
export function requireFreeName(name: string): void {
  if (lstatSync(fileOfWallet(name), { throwIfNoEntry: false }) !== undefined) throw nameIsTaken(name)
}

const nameIsTaken = (name: string) =>
  new Problem('conflict', `the wallet ${name} already exists`, {
    param: '<name>',
    next: `choose another name, or \`svc wallet delete ${name}\``,
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
  return { ...head, key: await sealSecret(seed, passphrase, contextOf(head)) }
}

/** The 32-byte seed of a wallet; null if the passphrase is wrong or the file was changed. */
export async function openSeed(wallet: KeyWallet, passphrase: string): Promise<Buffer | null> {
  const seed = await openSecret(wallet.key, passphrase, contextOf(wallet))
  return seed !== null && keyPairOf(seed).address === wallet.address ? seed : null
}
