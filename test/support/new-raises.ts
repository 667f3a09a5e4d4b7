/** Raises over HTTP for tests: a service with a token that can be sold, its seller, and what lands on its chain. */
import * as spl from '@solana/spl-token'
import type { Keypair, PublicKey } from '@solana/web3.js'
import { expect } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { decodeWireTransaction, messageBytesOf, signatureOffset } from '../../src/solana/messages.ts'
import { signFresh } from '../../src/solana/signatures.ts'
import { give, lamportsOf, type Mint, type MintOptions, run } from './gold.ts'
import { isoOf, locksOn } from './locks.ts'
import { lacksPresale } from './raises.ts'
import type { Service } from './service.ts'
import { addressOf } from './wallets.ts'

export const HOUR = 3_600

/** A fixed price of 0.001 SOL for a token of nine decimals. */
export const FIXED = { sale_mode: 'fixed_price', price: '0.001', min: '1000000000', max: '5000000000' } as const
export const PRO_RATA = {
  sale_mode: 'pro_rata',
  supply: '5000000000000',
  min: '1000000000',
  max: '5000000000',
} as const
export const FIRST_COME = { ...PRO_RATA, sale_mode: 'first_come' } as const

/** Raw units of each who has the token. */
const HELD = 20_000_000_000_000n

/** A service with a mint whose authorities are given up; the seller and the holders have some of it. */
export async function raisesOn(service: Service, options: MintOptions = {}, holders: readonly PublicKey[] = []) {
  const on = await locksOn(service, { isFreezable: false, ...options }, 0n)
  const { chain, issuer, gold, creator: seller } = on
  for (const holder of [seller.publicKey, ...holders]) give(chain, issuer, gold, holder, HELD)
  giveUp(on, gold, spl.AuthorityType.MintTokens)
  const body = (more: object = {}) => ({
    ...{ payer: addressOf(seller), mint: on.mint, ends_at: isoOf(on.now() + HOUR) },
    ...('sale_mode' in more ? {} : FIXED),
    ...more,
  })
  const built = (more?: object) => on.built('POST', '/v2/raises', body(more))
  const refused = (more?: object) => on.refused('POST', '/v2/raises', body(more))
  /** Builds one, lands it with the seller's signature and those of others, and answers what the build said. */
  const create = async (more?: object, ...others: Keypair[]) => {
    const data = await built(more)
    if ('tx_version' in (more ?? {})) landVersion1(chain, data, [seller, ...others])
    else on.land(data, seller, ...others)
    return data
  }
  /** Field and beginning of a refusal. */
  const expectRefused = async (more: object, param: string, text: string) => {
    const [field, message] = await refused(more)
    expect({ field, message }).toEqual({ field: param, message: expect.stringContaining(text) })
  }
  return {
    ...on,
    ...{ seller, body, build: built, refuse: refused, create, expectRefused, tokenAccount: gold },
    lamports: (key: Keypair) => lamportsOf(chain, key.publicKey),
    read: async (id: string) => (await on.ask('GET', `/v2/raises/${id}`)).json.data,
    rows: () => service.services.store.db.selectFrom('raises').selectAll().orderBy('seq').execute(),
  }
}

function landVersion1(chain: LocalChain, { transaction }: { transaction: string }, keys: readonly Keypair[]): void {
  const bytes = Uint8Array.from(Buffer.from(transaction, 'base64'))
  const { message } = decodeWireTransaction(bytes)
  for (const [place, address] of message.keys.slice(0, message.signers).entries()) {
    const key = keys.find((each) => addressOf(each) === address)
    if (key !== undefined) bytes.set(signFresh(key.secretKey, messageBytesOf(bytes)), signatureOffset(bytes, place))
  }
  const { err, logs } = chain.send(bytes)
  expect(err, logs.join('\n')).toBeNull()
}

/** The issuer gives up an authority of the mint. */
export function giveUp(
  { chain, issuer }: Pick<Awaited<ReturnType<typeof locksOn>>, 'chain' | 'issuer'>,
  { mint, program }: Mint,
  type: spl.AuthorityType,
): void {
  const giving = spl.createSetAuthorityInstruction(mint, issuer.publicKey, type, null, [], program)
  expect(run(chain, [giving], [issuer]).err).toBeNull()
}

export { addressOf, isoOf, lacksPresale }
