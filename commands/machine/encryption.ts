/** Encrypts a secret of 32 bytes with a passphrase: scrypt makes the key, AES-256-GCM the ciphertext. */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from '@hono/zod-openapi'

/** The seed of a wallet, or the key of a sealed backup. */
export const SECRET_BYTES = 32
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** 128 MiB and half a second for each guess of a passphrase. */
const COST = 2 ** 17
const BLOCK_SIZE = 8
/** A file that demands more memory than this (1 GiB) is not opened. */
const MOST_COST = 2 ** 20

const base64Of = (bytes: number) =>
  z
    .string()
    .max(4 * bytes)
    .refine((text) => Buffer.from(text, 'base64').length === bytes && /^[A-Za-z0-9+/]+={0,2}$/.test(text))
const isPowerOfTwo = (n: number) => Number.isInteger(Math.log2(n))

/** All values are base64. `secret` is the ciphertext of the 32-byte secret with its tag. */
export const sealedSecretSchema = z.strictObject({
  kdf: z.strictObject({
    name: z.literal('scrypt'),
    n: z
      .int()
      .min(2 ** 14)
      .max(MOST_COST)
      .refine(isPowerOfTwo),
    r: z.literal(BLOCK_SIZE),
    p: z.literal(1),
    salt: base64Of(SALT_BYTES),
  }),
  cipher: z.strictObject({ name: z.literal('aes-256-gcm'), nonce: base64Of(NONCE_BYTES) }),
  secret: base64Of(SECRET_BYTES + TAG_BYTES),
})
export type SealedSecret = z.infer<typeof sealedSecretSchema>

/** The cleartext beside the ciphertext is authenticated with it: `context` and the parameters. */
const authenticated = (context: readonly string[], { kdf, cipher }: Pick<SealedSecret, 'kdf' | 'cipher'>) =>
  Buffer.from(JSON.stringify([...context, kdf.name, kdf.n, kdf.r, kdf.p, kdf.salt, cipher.name, cipher.nonce]))

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

/** A passphrase gives the same key on systems that encode its characters differently. */
const keyOf = (passphrase: string, { n, r, p, salt }: SealedSecret['kdf']) =>
  derive(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64'), KEY_BYTES, { N: n, r, p, maxmem: 256 * n * r })

/** Encrypts a secret; `context` is the cleartext of the file, in order. */
export async function sealSecret(
  secret: Uint8Array,
  passphrase: string,
  context: readonly string[],
  cost = COST,
): Promise<SealedSecret> {
  const kdf = {
    name: 'scrypt',
    n: cost,
    r: BLOCK_SIZE,
    p: 1,
    salt: randomBytes(SALT_BYTES).toString('base64'),
  } as const
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = { name: 'aes-256-gcm', nonce: nonce.toString('base64') } as const
  const key = await keyOf(passphrase, kdf)
  const sealing = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  sealing.setAAD(authenticated(context, { kdf, cipher }))
  const sealed = Buffer.concat([sealing.update(secret), sealing.final(), sealing.getAuthTag()])
  key.fill(0)
  return { kdf, cipher, secret: sealed.toString('base64') }
}

/** Returns the secret; null for a wrong passphrase or a changed file, which look the same. */
export async function openSecret(
  sealed: SealedSecret,
  passphrase: string,
  context: readonly string[],
): Promise<Buffer | null> {
  const key = await keyOf(passphrase, sealed.kdf)
  const nonce = Buffer.from(sealed.cipher.nonce, 'base64')
  const bytes = Buffer.from(sealed.secret, 'base64')
  const opening = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  opening.setAAD(authenticated(context, sealed))
  opening.setAuthTag(bytes.subarray(SECRET_BYTES))
  try {
    return Buffer.concat([opening.update(bytes.subarray(0, SECRET_BYTES)), opening.final()])
  } catch {
    return null
  } finally {
    key.fill(0)
  }
}
