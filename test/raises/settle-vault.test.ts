/** Raises whose creator is the vault of a multisig: proposed, approved and executed, on the real programs. */
import { describe, expect, it } from 'vitest'
import { merkleRootAddress, serverMetadataAddress } from '../../src/chain/programs/presale/index.ts'
import { PRESALE } from '../../src/solana/programs/presale.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { lacksPresale, raisesOn } from '../support/new-raises.ts'
import { POOL, type SettledRaises, settlementsOn } from '../support/settled-raises.ts'
import { keyOf } from '../support/squads.ts'
import { lacksTreasury, sharedTreasury, type Treasury } from '../support/treasury.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const lacks = lacksPresale || lacksTreasury || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')

describe.skipIf(lacks !== '')(`a raise of a vault ${lacks}`, () => {
  let at: Treasury
  let raises: SettledRaises
  sharedTreasury(async (opened) => {
    at = opened
    raises = await settlementsOn(await raisesOn(at.service))
    await raises.giveTo(at.vault, BigInt(POOL.reserve))
  })

  /** Proposes an act of the vault, which its members approve and execute. */
  const carriedOut = async (id: string, path: string, more: object = {}) => {
    const body = { payer: at.vault, approver: at.approver(), ...more }
    const data = await at.post(`/v2/raises/${id}/${path}`, body)
    at.put(data.proposal, at.a)
    await at.follow()
    await at.carryOut(data.proposal.id)
    expect(await at.proposalOf(data.proposal.id)).toMatchObject({ status: 'executed' })
    return data
  }

  it('is settled by one proposal, whose execution opens the pool with a key of the program', async () => {
    const { id, preview } = await raises.create({ pool: POOL, creator_vault: { multisig: at.multisig } })
    raises.buy(id, 5n * SOL)
    raises.end(id)
    const data = await carriedOut(id, 'settlements')
    expect(data).toMatchObject({
      acts: ['withdraw', 'open_pool', 'lock_liquidity', 'close_price'],
      left: [],
      pool_quote: preview.best.pool_quote,
    })
    const wrapped = raises.wrapped(keyOf(at.vault))
    expect(wrapped).toBe(BigInt(preview.best.creator_gets))
    const pool = await raises.pool(at.vault)
    expect([pool!.locked > 0n, pool!.position!.liquidity]).toEqual([true, 0n])
    const again = await at.ask('POST', `/v2/raises/${id}/settlements`, { payer: at.vault, approver: at.approver() })
    expect(again.error.message).toContain('is settled')
  })

  it('is opened by a proposal, and admits its list only once that is executed', async () => {
    const { id } = await raises.create({ allowlist: true, creator_vault: { multisig: at.multisig } })
    const buyer = raises.buyer()
    const entries = [{ wallet: addressOf(buyer), cap: String(SOL) }]
    const { root } = await at.post(`/v2/raises/${id}/allowlist`, { entries })
    const url = 'https://sale.example.com/raise'
    const proposed = await at.post(`/v2/raises/${id}/openings`, { payer: at.vault, approver: at.approver(), url })
    expect(proposed).toMatchObject({ id, root, root_version: 0, url })
    const due = async () => (await at.ask('GET', `/v2/raises/${id}`)).data.due.map(({ act }: { act: string }) => act)
    expect(await due()).toEqual(['open', 'close_price'])
    const deposit = { buyer: addressOf(buyer), amount: String(SOL) }
    expect((await at.proposalOf(proposed.proposal.id)).plan).toContain(
      '  0: the wallets of the list with the root below may buy in the raise',
    )
    const early = await at.ask('POST', `/v2/raises/${id}/deposits`, deposit)
    expect(early.error.message).toContain('is not open yet')

    await carriedOut(id, 'openings', { url })
    const onChain = (address: string) => raises.chain.account(address)
    const config = PRESALE.decode('merkle_root_config', onChain(merkleRootAddress(id, 0n)))
    expect(Buffer.from(config!.root).toString('hex')).toBe(root)
    const metadata = PRESALE.decode('permissioned_server_metadata', onChain(serverMetadataAddress(id)))
    expect(metadata?.server_url).toBe(url)
    expect((await at.ask('GET', `/v2/raises/${id}`)).data).toMatchObject({ root, url, creator: at.vault })
    expect(await due()).toEqual(['deposit', 'close_price'])
    raises.land(await at.post(`/v2/raises/${id}/deposits`, deposit), buyer)
    expect(raises.read(id).deposited).toBe(SOL)
    expect(await raises.rows()).toContainEqual(expect.objectContaining({ id, state: 'ongoing' }))
    const again = await at.ask('POST', `/v2/raises/${id}/openings`, { payer: at.vault, approver: at.approver(), url })
    expect(again.error.details).toMatchObject({ reason: 'already_open', root_version: 0 })

    // A second list is proposed with the place of its proofs as long as the service takes it.
    const longer = [...entries, { wallet: addressOf(raises.buyer()), cap: String(SOL) }]
    const second = await at.post(`/v2/raises/${id}/allowlist`, { entries: longer })
    const far = `https://sale.example.com/${'x'.repeat(256 - 25)}`
    await carriedOut(id, 'openings', { url: far })
    expect((await at.ask('GET', `/v2/raises/${id}`)).data).toMatchObject({ root: second.root, url: far })
  })
})
