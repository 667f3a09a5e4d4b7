/** What commands read of a token before they speak of amounts: the chain's word, whatever a metadata provider says. */
import * as spl from '@solana/spl-token'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { derivePayer } from '../../commands/airdrops/ownership.ts'
import { type LaunchPart, requireLaunchTokens } from '../../commands/airdrops/parts.ts'
import type { Session } from '../../commands/cli/session.ts'
import { mintState, tokenBalance } from '../../commands/signing/token-state.ts'
import { addressOf, airdropsOn } from '../support/airdrops.ts'
import { knowsAll, startDas } from '../support/das-server.ts'
import { clientOf } from '../support/request.ts'
import { startService } from '../support/service.ts'

const need = (total: string) => [{ record: { total } }] as LaunchPart[]

async function opened() {
  const provider = await startDas(knowsAll)
  onTestFinished(provider.close)
  const all = await airdropsOn(await startService({ settings: { 'metadata-url': provider.url } }))
  const session = { client: clientOf(all.request) } as Session
  return { ...all, session }
}

describe('A command with a metadata provider', () => {
  it('reads the decimals and the program of a mint from the chain', async () => {
    const { session, mintFor, wallet, ok, chain } = await opened()
    const payer = wallet()
    const [mint, newer] = [mintFor(payer, 5n), mintFor(payer, 5n, spl.TOKEN_2022_PROGRAM_ID)]
    expect((await ok('GET', `/v2/tokens/${mint}`)).raw).toMatchObject({ interface: 'FungibleToken' })
    expect(await mintState(session, mint)).toEqual({ decimals: 6, isToken2022: false, transferFee: null })
    expect(await mintState(session, newer)).toEqual({ decimals: 6, isToken2022: true, transferFee: null })
    const extended = chain.account(newer)!
    const data = Buffer.concat([extended.data, Buffer.alloc(88)])
    data[165] = 1
    chain.setAccount(newer, { ...extended, data })
    expect(await mintState(session, newer)).toEqual({ decimals: 6, isToken2022: true, transferFee: null })
    const { tokenAccount } = await derivePayer(session, addressOf(payer), mint)
    for (const other of [addressOf(payer), tokenAccount, addressOf(Keypair.generate())]) {
      await expect(mintState(session, other)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('says what the payer of a launch has and lacks, even if its unopened account has lamports', async () => {
    const { session, mintFor, wallet, chain } = await opened()
    const [holder, other] = [wallet(), wallet()]
    const mint = mintFor(holder, 5n)
    const ask = async (payer: Keypair, total: string, of = mint) =>
      requireLaunchTokens(session, {
        token: { mint: of, symbol: null, ...(await mintState(session, of)) },
        payer: await derivePayer(session, addressOf(payer), of),
        parts: need(total),
      })
    await ask(holder, '5')
    await expect(ask(holder, '7')).rejects.toThrow('has 0.000005 of the 0.000007 tokens that this takes')
    const newer = mintFor(holder, 5n, spl.TOKEN_2022_PROGRAM_ID)
    await expect(ask(holder, '5', newer)).rejects.toThrow('takes only tokens of the original program')

    const lacking = 'has 0 of the 0.000005 tokens that this takes: 0.000005 are missing'
    await expect(ask(other, '5')).rejects.toThrow(lacking)
    const { tokenAccount } = await derivePayer(session, addressOf(other), mint)
    chain.airdrop(tokenAccount, 1_000_000n)
    expect(await tokenBalance(session, tokenAccount)).toBe(0n)
    await expect(ask(other, '5')).rejects.toThrow(lacking)
  })
})
