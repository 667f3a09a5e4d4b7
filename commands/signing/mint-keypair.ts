/** `--mint-keypair`: the key of a mint that the user made, which signs here and is neither stored nor sent. */
import { text } from '../cli/command.ts'
import { usage } from '../ui/problem.ts'

export interface MintKey {
  address: string
  /** 64 integers, which no answer, journal or log gets. */
  secretKey: number[]
}

/** The flag, which fills this field of the request with the address. */
export const mintKeypair = (field: 'mint' | 'base_mint') => ({
  ...text('Keypair file of the mint (default: a new key), see `svc tokens grind`', {
    placeholder: 'FILE',
    existing: true,
  }),
  field,
})

/** The address and the secret key of the file, if there is one. Throws a usage problem that names the flag. */
export async function mintKeyOf(input: {
  mint_keypair?: string | undefined
  squads?: unknown
  qr?: string | undefined
}): Promise<MintKey | undefined> {
  const { mint_keypair: file, squads, qr } = input
  if (file === undefined) return undefined
  const param = '--mint-keypair'
  if (squads !== undefined)
    throw usage(`${param} is for a wallet of your own: a vault makes its mints itself`, { param })
  if (qr !== undefined) throw usage(`${param} signs here, and with --qr the phone signs alone`, { param })
  return readMintKeypair(file)
}

/** Reads the file again. Throws a problem that names it if it is not a keypair, or if others can read it. */
export async function readMintKeypair(file: string): Promise<MintKey> {
  const { readMintKey } = await import('../machine/wallets/keypair-file.ts')
  return readMintKey(file)
}
