/** `--mint-keypair`: the key of a mint that the user made, which signs here and is neither stored nor sent. */
import { text } from '../cli/command.ts'

interface MintKey {
  address: string
  /** 64 integers, which no answer, journal or log gets. */
  secretKey: number[]
}

/** The flag, which fills this field of the request with the address. */
export const mintKeypair = (field: 'mint' | 'base_mint') =>
  text('Keypair file of the mint (default: a new key), see `svc tokens grind`', {
    placeholder: 'FILE',
    existing: true,
    // A vault makes its mints itself, and a phone signs alone.
    conflicts: ['squads', 'qr'],
    field,
  })

/** The address and the secret key of the file, if there is one. */
export const loadMintKey = async ({
  mint_keypair: file,
}: {
  mint_keypair?: string | undefined
}): Promise<MintKey | undefined> => (file === undefined ? undefined : readMintKeypair(file))

/** Reads the file again. Throws a problem that names it if it is not a keypair, or if others can read it. */
export async function readMintKeypair(file: string): Promise<MintKey> {
  const { readMintKey } = await import('../machine/wallets/keypair-file.ts')
  return readMintKey(file)
}
