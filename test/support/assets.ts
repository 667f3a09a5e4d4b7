/** Wallets, collections and assets of Metaplex Core over HTTP, signed as a stranger's wallet does, landed and followed. */
import { transferV1 } from '@metaplex-foundation/mpl-core'
import type { TransactionBuilder } from '@metaplex-foundation/umi'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { loadCore } from '../../src/chain/programs/metaplex-core/sdk.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addSignatures } from './local-chain-transactions.ts'
import { hasProgram } from './programs.ts'
import type { Service } from './service.ts'
import { addressOf, SOL } from './wallets.ts'

export { addressOf, SOL }

export const lacksCore = !hasProgram(PROGRAMS.core.id)
export const TEXTS = { name: 'Genesis #1', uri: 'https://example.com/genesis/1.json' }

export interface Built {
  transaction: string
  requiredSigners: string[]
  tracked_resource?: object
}

/** What a test does with a service's chain. */
export async function assetsOn(service: Pick<Service, 'services' | 'request' | 'clock'>) {
  const { services, request, clock } = service
  const chain = await services.chain.local()
  const funded = (lamports = 10n * SOL) => {
    const key = Keypair.generate()
    chain.airdrop(addressOf(key), lamports)
    return key
  }
  /** The chain goes on, so that its next blockhash and slot are new ones. */
  const settle = async () => {
    chain.advance(20)
    clock.advance(20_000)
    await followTransactions(services)
  }
  const signed = ({ transaction }: Pick<Built, 'transaction'>, ...signers: Keypair[]) => {
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    if (signers.length > 0) addSignatures(decoded, signers)
    return Buffer.from(decoded.serialize())
  }
  /** Straight to the chain, past the service. */
  const land = (built: Pick<Built, 'transaction'>, ...signers: Keypair[]) => {
    const landed = chain.send(signed(built, ...signers))
    chain.advance(1)
    return landed
  }
  const submit = async (built: Built, signers: Keypair[], more: object = {}) => {
    const { tracked_resource } = built
    const transaction = signed(built, ...signers).toString('base64')
    const sent = await request('POST', '/v2/transactions', { body: { transaction, tracked_resource, ...more } })
    expect(sent.status, sent.text).toBe(200)
    return sent.json.data.signature as string
  }
  const built = async (method: string, path: string, body: object) => {
    const { status, json, text } = await request(method, path, { body })
    expect(status, text).toBe(200)
    return json.data
  }
  const collection = async (payer: Keypair, update_authority = addressOf(payer)): Promise<string> => {
    const made = await built('POST', '/v2/collections', { payer: addressOf(payer), ...TEXTS, update_authority })
    expect(land(made, payer).err).toBeNull()
    return made.collection
  }
  /** Minted past the service: it has not seen it. */
  const minted = async (payer: Keypair, into: string, more: object = {}): Promise<string> => {
    const body = { payer: addressOf(payer), platform_id: 'acme', collection: into, ...TEXTS, ...more }
    const made = await built('POST', '/v2/nfts', body)
    expect(land(made, payer).err).toBeNull()
    return made.asset
  }
  /** Lands instructions that the SDK makes, as another client would send them. */
  const run = async (
    make: (sdk: Awaited<ReturnType<typeof loadCore>>) => TransactionBuilder,
    payer: Keypair,
    ...others: Keypair[]
  ) => {
    const sdk = await loadCore()
    const recentBlockhash = chain.latestBlockhash().blockhash
    const { transaction } = await compileUnsigned(
      { payer: addressOf(payer), recentBlockhash },
      sdk.instructions(make(sdk)),
    )
    return land({ transaction: Buffer.from(transaction).toString('base64') }, payer, ...others)
  }
  /** Whose issuer can freeze all that is in it. */
  const freezable = async (payer: Keypair, frozen: boolean): Promise<string> => {
    const made = Keypair.generate()
    await run(
      ({ core, context, signer, key }) =>
        core.createCollection(context, {
          collection: signer(addressOf(made)),
          payer: signer(addressOf(payer)),
          updateAuthority: key(addressOf(payer)),
          ...TEXTS,
          plugins: [{ type: 'PermanentFreezeDelegate', frozen }],
        }),
      payer,
      made,
    )
    return addressOf(made)
  }
  const transfer = (asset: string, into: string, from: Keypair, to: string) =>
    run(
      ({ context, signer, key }) =>
        transferV1(context, {
          asset: key(asset),
          collection: key(into),
          payer: signer(addressOf(from)),
          authority: signer(addressOf(from)),
          newOwner: key(to),
        }),
      from,
    )
  return {
    ...service,
    chain,
    funded,
    settle,
    signed,
    land,
    submit,
    built,
    collection,
    freezable,
    minted,
    run,
    transfer,
  }
}
export type Assets = Awaited<ReturnType<typeof assetsOn>>

/** Types and the named fields of the events about one asset, oldest first. */
export async function eventsOf({ request }: Pick<Service, 'request'>, asset: string) {
  const { json } = await request('GET', `/v2/events?order=asc&resource_id=${asset}&limit=100`)
  return json.data as { type: string; external_uid?: string; data: { object: Record<string, unknown> } }[]
}
