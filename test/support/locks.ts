/** Locks of any mint for tests: a service with a mint of either program, and what its locks do over HTTP. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { createMint, give, type MintOptions, tokenAccountOf, unitsIn } from './gold.ts'
import { addSignatures } from './local-chain-transactions.ts'
import type { Service } from './service.ts'
import { addressOf, SOL } from './wallets.ts'

export { addressOf }

/** A Token-2022 mint that withholds so many hundredths of a percent, at most `most` raw units. */
export const withFee = (basisPoints: number, most: bigint): MintOptions => ({
  program: spl.TOKEN_2022_PROGRAM_ID,
  extensions: [
    {
      type: spl.ExtensionType.TransferFeeConfig,
      initialize: (mint, program, authority) =>
        spl.createInitializeTransferFeeConfigInstruction(mint, authority, authority, basisPoints, most, program),
    },
  ],
})

/** A service's chain with a mint, of which `creator` holds so many raw units. */
export async function locksOn(service: Service, options?: MintOptions, held = 1_000_000n) {
  const chain = await service.services.chain.local()
  const [issuer, creator, recipient] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  for (const each of [issuer, creator, recipient]) chain.airdrop(addressOf(each), 100n * SOL)
  const gold = createMint(chain, issuer, options)
  if (held > 0n) give(chain, issuer, gold, creator.publicKey, held)
  const mint = gold.mint.toBase58()
  const ask = async (method: string, path: string, body?: object) =>
    service.request(method, path, body === undefined ? {} : { body })
  const built = async (method: string, path: string, body: object) => {
    const { status, json, text } = await ask(method, path, body)
    expect(status, text).toBe(200)
    return json.data
  }
  /** Field and message of a refusal. */
  const refused = async (method: string, path: string, body?: object): Promise<[string, string]> => {
    const { status, json, text } = await ask(method, path, body)
    expect(status, text).toBeGreaterThanOrEqual(400)
    return [json.error.param, json.error.message]
  }
  const land = (data: { transaction: string }, ...signers: Keypair[]) => {
    const transaction = VersionedTransaction.deserialize(Buffer.from(data.transaction, 'base64'))
    addSignatures(transaction, signers)
    const landed = chain.send(transaction.serialize())
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    // The same act is built again with another blockhash.
    chain.advance(1)
    return landed
  }
  const create = async (more: object = {}, signer = creator) => {
    const body = { payer: addressOf(creator), mint, recipient: addressOf(recipient), amount: '1000', ...more }
    const data = await built('POST', '/v2/locks', body)
    land(data, signer)
    return data
  }
  const get = async (address: string) => (await ask('GET', `/v2/locks/${address}`)).json.data
  const units = (owner: Keypair | string) =>
    unitsIn(chain, tokenAccountOf(gold, typeof owner === 'string' ? new PublicKey(owner) : owner.publicKey)) ?? 0n
  /** Moves the chain's clock to Unix seconds that have not come yet. */
  const at = (seconds: number) => {
    const ahead = seconds - chain.unixTimestamp()
    if (ahead > 0) chain.advance(ahead)
  }
  const now = () => chain.unixTimestamp()
  return {
    ...{ service, chain, issuer, creator, recipient, gold, mint },
    ...{ ask, built, refused, land, create, get, units, at, now },
  }
}

export const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
