/** Constants and ids of Jito bundles that the relay and the embedded chain share. */
import { createHash } from 'node:crypto'

/** Tip accounts of the block engine, as getTipAccounts returns them on mainnet. */
export const TIP_ACCOUNTS = [
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
  'DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh',
  'ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt',
  'DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL',
  '3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT',
] as const

/** Id of a bundle as Jito's block engine computes it: SHA-256 of its signatures joined by commas, in hex. */
export function bundleIdOf(signatures: readonly string[]): string {
  return createHash('sha256').update(signatures.join(',')).digest('hex')
}
