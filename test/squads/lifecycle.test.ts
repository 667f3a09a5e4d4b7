/** Proposals of Squads v4 on the real program: who may do what, and what happens in between. */

import { Keypair, PublicKey } from '@solana/web3.js'
import { instructions } from '@sqds/multisig'
import { describe, expect, it } from 'vitest'
import { explainTransactionError } from '../../src/chain/errors/index.ts'
import {
  buildExecution,
  buildMultisigCreation,
  buildReclaim,
  buildVote,
  readMultisig,
  readProposal,
  readProposalAccounts,
} from '../../src/chain/programs/squads/index.ts'
import type { LandedTransaction } from '../../src/localnet/types.ts'
import { NOTHING_LOADED } from '../../src/solana/squads/index.ts'
import { SOL, someone } from '../support/local-chain.ts'
import { addressOf, keyOf, lacksSquads, member, openSquads, type SquadsChain } from '../support/squads.ts'

/** Code and hint of the program's refusal; null after a success. */
const refusalOf = ({ err, logs }: Pick<LandedTransaction, 'err' | 'logs'>) => {
  if (err === null) return null
  const { program, code, hint } = explainTransactionError(err, { logs })
  expect(program).toBe('Squads v4')
  expect(hint, String(code)).not.toBeNull()
  return code
}

/** Proposes a payment of a lamport amount to a new wallet. */
async function payment(squads: SquadsChain, lamports: number | bigint = SOL) {
  const to = someone()
  const inner = squads.wrapped([squads.pay(to, lamports)])
  return { to, inner, ...(await squads.propose(inner)) }
}

describe.skipIf(lacksSquads)(`a Squads proposal ${lacksSquads}`, () => {
  it('pays out of the vault after the threshold is reached', async () => {
    const squads = await openSquads()
    const { chain, node, multisig, vault, a, b, svc } = squads
    const { to, index, transactions, buffer } = await payment(squads)
    expect([transactions.length, transactions[0]!.transaction.length, buffer]).toEqual([1, 465, null])
    expect((await squads.vote('approve', index, a)).err).toBeNull()
    expect(refusalOf(await squads.execute(index))).toBe(6008)
    expect((await squads.vote('approve', index, b)).err).toBeNull()
    const before = chain.account(vault)!.lamports
    const { err, logs } = await squads.execute(index, svc)
    expect(err, logs.join('\n')).toBeNull()
    expect(before - chain.account(vault)!.lamports).toBe(SOL)
    expect(chain.account(to.toBase58())!.lamports).toBe(SOL)
    const { proposal } = await readProposal(node, multisig, index)
    expect(proposal).toMatchObject({ status: 'executed', rejected: [], cancelled: [] })
    expect(proposal!.approved.toSorted()).toEqual([a, b].map(addressOf).toSorted())
    expect(await readMultisig(node, multisig)).toMatchObject({
      ...{ threshold: 2, transactionIndex: 1n, staleTransactionIndex: 0n, timeLock: 0 },
      ...{ configAuthority: null, rentCollector: addressOf(svc) },
    })
    expect(refusalOf(await squads.execute(index, svc))).toBe(6008)
  })

  it('is decided by the members who may, and once by each', async () => {
    const squads = await openSquads({ proposer: 'i' })
    const { svc, a, b } = squads
    const { index } = await payment(squads)
    const stranger = squads.test.wallet()
    const vote = async (by: Keypair, kind: 'approve' | 'reject' | 'cancel' = 'approve') =>
      refusalOf(await squads.vote(kind, index, by))
    expect(await vote(svc)).toBe(6004)
    expect(await vote(stranger)).toBe(6005)
    expect(await vote(a, 'cancel')).toBe(6008)
    expect(await vote(a)).toBeNull()
    expect(await vote(a)).toBe(6010)
    expect(await vote(b)).toBeNull()
    expect(refusalOf(await squads.execute(index, svc))).toBe(6004)
    expect(refusalOf(await squads.execute(index, stranger))).toBe(6005)
    expect(refusalOf(await squads.execute(index, a))).toBeNull()
  })

  it('is rejected by so many that it cannot be approved any more, and cancelled by as many as approved it', async () => {
    const squads = await openSquads()
    const { a, b, c, node, multisig } = squads
    const [rejected, cancelled] = [await payment(squads), await payment(squads)]
    expect(refusalOf(await squads.vote('reject', rejected.index, a))).toBeNull()
    expect(refusalOf(await squads.vote('reject', rejected.index, a))).toBe(6011)
    expect(refusalOf(await squads.vote('reject', rejected.index, b))).toBeNull()
    await squads.approved(cancelled.index)
    for (const by of [a, c]) expect(refusalOf(await squads.vote('cancel', cancelled.index, by))).toBeNull()
    const shown = await readProposalAccounts(node, multisig, [rejected.index, cancelled.index, 3n])
    expect(shown.map((each) => each?.status ?? null)).toEqual(['rejected', 'cancelled', null])
    expect([shown[0]!.rejected.length, shown[1]!.cancelled.length]).toEqual([2, 2])
    for (const { index } of [rejected, cancelled]) expect(refusalOf(await squads.execute(index))).toBe(6008)
  })

  it('waits for the time lock', async () => {
    const squads = await openSquads({ timeLock: 3_600 })
    const { index } = await payment(squads)
    await squads.approved(index)
    expect(refusalOf(await squads.execute(index))).toBe(6021)
    squads.chain.advance(3_600)
    expect(refusalOf(await squads.execute(index))).toBeNull()
  })

  it('of an index that another proposal took first is refused', async () => {
    const squads = await openSquads()
    const { index } = await payment(squads)
    const second = squads.propose(squads.wrapped([squads.pay(someone(), 1)]), { index })
    const { landed } = await second.catch((error: { landed: LandedTransaction }) => error)
    expect(refusalOf(landed as LandedTransaction)).toBe(2006)
  })

  it('grows stale when the rules change, unless it was approved before', async () => {
    const squads = await openSquads()
    const { a, b, node, multisig, svc } = squads
    const [open, approved] = [await payment(squads), await payment(squads)]
    await squads.approved(approved.index)
    const index = await squads.nextIndex()
    const base = { multisigPda: keyOf(multisig), transactionIndex: index, creator: a.publicKey }
    const config = instructions.configTransactionCreate({
      ...base,
      actions: [{ __kind: 'SetTimeLock', newTimeLock: 0 }],
    })
    expect(squads.send([config, instructions.proposalCreate(base)], [a]).err).toBeNull()
    await squads.approved(index)
    const done = instructions.configTransactionExecute({ ...base, member: a.publicKey, rentPayer: a.publicKey })
    expect(squads.send([done], [a]).err).toBeNull()
    expect(await readMultisig(node, multisig)).toMatchObject({ staleTransactionIndex: index })
    expect(refusalOf(await squads.vote('approve', open.index, b))).toBe(6007)
    expect(refusalOf(await squads.execute(approved.index, svc))).toBeNull()
  })

  it('is not executed with another account or another flag than the chain stores', async () => {
    const squads = await openSquads()
    const { index, inner } = await payment(squads)
    await squads.approved(index)
    const { transaction } = await readProposal(squads.node, squads.multisig, index)
    const run = async (message: typeof inner) => {
      const terms = { ...squads.envelope(), ...transaction!, member: addressOf(squads.svc) }
      return refusalOf(squads.land(await buildExecution({ ...terms, message }), squads.svc))
    }
    const other = { ...inner, keys: inner.keys.map((key, i) => (i === 1 ? someone().toBase58() : key)) }
    expect(await run(other)).toBe(6014)
    expect(await run({ ...inner, writableOthers: 0 })).toBe(6014)
    expect(await run({ ...inner, keys: inner.keys.slice(0, -1), loaded: NOTHING_LOADED })).toBe(6013)
    expect(await run(inner)).toBeNull()
  })

  it('gives its rent back to the rent collector when it is finished, and not before', async () => {
    const squads = await openSquads()
    const { svc, a, chain, multisig, node } = squads
    const { index, transaction, proposal } = await payment(squads)
    const reclaim = async (at: SquadsChain = squads, number = index) => {
      const terms = { multisig: at.multisig, index: number, rentCollector: addressOf(at.svc) }
      return refusalOf(at.land(await buildReclaim({ ...at.envelope(at.a), ...terms }), at.a))
    }
    expect(await reclaim()).toBe(6008)
    await squads.approved(index)
    expect(refusalOf(await squads.execute(index, a))).toBeNull()
    const rent = [transaction, proposal].reduce((sum, address) => sum + chain.account(address)!.lamports, 0n)
    const before = chain.account(addressOf(svc))!.lamports
    expect(await reclaim()).toBeNull()
    expect(chain.account(addressOf(svc))!.lamports - before).toBe(rent)
    expect(await readProposal(node, multisig, index)).toMatchObject({ proposal: null, transaction: null })
    const other = await openSquads({ rentCollector: false })
    const kept = await payment(other)
    await other.approved(kept.index)
    expect(refusalOf(await other.execute(kept.index))).toBeNull()
    expect(await reclaim(other, kept.index)).toBe(6032)
  })
})

describe.skipIf(lacksSquads)(`a multisig ${lacksSquads}`, () => {
  it('that the program would refuse is refused before, with the field', async () => {
    const squads = await openSquads()
    const [x, y] = [Keypair.generate(), Keypair.generate()]
    const make = (wish: object) =>
      buildMultisigCreation({
        ...squads.envelope(),
        ...{ createKey: addressOf(x), treasury: addressOf(y), threshold: 1, members: [member(x), member(y)] },
        ...wish,
      })
    await expect(make({ threshold: 3 })).rejects.toThrow(
      'threshold must be 1 to 2, the number of members who may vote, not 3',
    )
    await expect(make({ members: [member(x, 'v')] })).rejects.toThrow(
      'members: at least one must have the right to initiate',
    )
    await expect(make({ members: [member(x), member(x)] })).rejects.toThrow(`members: ${addressOf(x)} is listed twice`)
    await expect(make({ timeLock: 90 * 86_400 + 1 })).rejects.toMatchObject({ param: 'time_lock' })
  })

  it('is not found at its vault, at a wallet, or at an account of another kind', async () => {
    const squads = await openSquads()
    const { node, vault, svc } = squads
    const { proposal } = await payment(squads)
    for (const address of [vault, addressOf(svc), someone().toBase58()]) {
      await expect(readMultisig(node, address)).rejects.toMatchObject({
        code: 'not_found',
        message: `There is no Squads multisig at ${address}: check the cluster and the address`,
      })
    }
    await expect(readMultisig(node, proposal)).rejects.toMatchObject({
      code: 'bad_request',
      message: `${proposal} is a proposal, not a multisig`,
    })
    const program = PublicKey.default.toBase58()
    await expect(readMultisig(node, program)).rejects.toThrow(`${program} is not a multisig of Squads v4`)
  })

  it('of a key that is not a member gets an approval that the program refuses', async () => {
    const squads = await openSquads()
    const { index } = await payment(squads)
    const stranger = squads.test.wallet()
    const terms = { ...squads.envelope(stranger), multisig: squads.multisig, index, member: addressOf(stranger) }
    expect(refusalOf(squads.land(await buildVote('approve', terms), stranger))).toBe(6005)
  })
})
