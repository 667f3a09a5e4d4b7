/** What a vault transaction would change, before anybody has approved it: on a copy, and on the node. */
import * as spl from '@solana/spl-token'
import { SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { readProposal, rehearseExecution } from '../../src/chain/programs/squads/index.ts'
import { mintOf, PROGRAMS_DIR, SOL, someone } from '../support/local-chain.ts'
import { compiled, keyOf, lacksSquads, lookupTable, openSquads } from '../support/squads.ts'

describe.skipIf(lacksSquads)(`the forecast of a Squads proposal ${lacksSquads}`, () => {
  it('has the balance changes of the execution, long before approvals and time lock', async () => {
    const squads = await openSquads({ timeLock: 86_400 })
    const { chain, node, multisig, vault } = squads
    const to = someone()
    const executed = {
      multisig,
      index: 1n,
      vaultIndex: 0,
      ephemeralSigners: 0,
      message: squads.wrapped([squads.pay(to, SOL)]),
    }
    const change = (address: string, before: bigint, after: bigint, created = false) => ({
      ...{ address, mint: null, owner: null, decimals: null, closed: false, space: 0, created },
      ...{ before: `${before}`, after: `${after}`, change: `${after - before}` },
    })
    const expected = {
      err: null,
      rent: '0',
      balance_changes: [change(vault, 100n * SOL, 99n * SOL), change(to.toBase58(), 0n, SOL, true)],
    }
    // Neither proposal nor transaction exists yet.
    expect(await rehearseExecution(node, PROGRAMS_DIR, executed)).toMatchObject({ exact: true, ...expected })
    await squads.propose(executed.message)
    const { transaction } = await readProposal(node, multisig, 1n)
    expect(await rehearseExecution(node, PROGRAMS_DIR, transaction!)).toMatchObject({ exact: true, ...expected })
    // Without the program cache the node runs the message, whose fee is not the vault's.
    expect(await rehearseExecution(node, '/nonexistent', transaction!)).toMatchObject({ exact: false, ...expected })
    expect(chain.account(vault)!.lamports).toBe(100n * SOL)
  })

  it('has the tokens that move, and the authority that signs for a new mint', async () => {
    const squads = await openSquads()
    const { test, chain, node, multisig, vault, svc } = squads
    const mint = await mintOf(test, svc, spl.TOKEN_PROGRAM_ID)
    const from = spl.getAssociatedTokenAddressSync(mint, keyOf(vault), true)
    const landed = test.send(
      [
        spl.createAssociatedTokenAccountInstruction(svc.publicKey, from, keyOf(vault), mint),
        spl.createMintToInstruction(mint, from, svc.publicKey, 5_000_000n),
      ],
      [svc],
    )
    expect(landed.err).toBeNull()
    const owner = someone()
    const account = spl.getAssociatedTokenAddressSync(mint, owner)
    const [fresh = ''] = squads.ephemeral(1n, 1)
    const message = squads.wrapped(
      [
        spl.createAssociatedTokenAccountInstruction(keyOf(vault), account, owner, mint),
        spl.createTransferInstruction(from, account, keyOf(vault), 2_000_000n),
        SystemProgram.createAccount({
          fromPubkey: keyOf(vault),
          newAccountPubkey: keyOf(fresh),
          space: spl.MINT_SIZE,
          lamports: Number(chain.minimumBalance(spl.MINT_SIZE)),
          programId: spl.TOKEN_PROGRAM_ID,
        }),
      ],
      [fresh],
    )
    const executed = { multisig, index: 1n, vaultIndex: 0, ephemeralSigners: 1, message }
    for (const folder of [PROGRAMS_DIR, '/nonexistent']) {
      const { exact, err, balance_changes, rent } = await rehearseExecution(node, folder, executed)
      expect([exact, err]).toEqual([folder === PROGRAMS_DIR, null])
      const tokens = balance_changes.filter((change) => change.mint !== null)
      expect(tokens.map(({ owner: of, change, decimals }) => [of, change, decimals]).toSorted()).toEqual(
        [
          [vault, '-2000000', 6],
          [owner.toBase58(), '2000000', 6],
        ].toSorted(),
      )
      expect(BigInt(rent!)).toBe(chain.minimumBalance(spl.MINT_SIZE) + chain.minimumBalance(165))
    }
  })

  it('has the program that the vault itself goes to', async () => {
    const squads = await openSquads()
    const { node, multisig, vault } = squads
    const thief = someone()
    const message = squads.wrapped([SystemProgram.assign({ accountPubkey: keyOf(vault), programId: thief })])
    const executed = { multisig, index: 1n, vaultIndex: 0, ephemeralSigners: 0, message }
    for (const folder of [PROGRAMS_DIR, '/nonexistent']) {
      const { err, control_changes } = await rehearseExecution(node, folder, executed)
      expect(err).toBeNull()
      expect(control_changes).toEqual([
        { address: vault, what: 'program', before: SystemProgram.programId.toBase58(), after: thief.toBase58() },
      ])
    }
  })

  it('has the failure of an execution that would fail', async () => {
    const squads = await openSquads()
    const message = squads.wrapped([squads.pay(someone(), 101n * SOL)])
    const executed = { multisig: squads.multisig, index: 1n, vaultIndex: 0, ephemeralSigners: 0, message }
    for (const folder of [PROGRAMS_DIR, '/nonexistent']) {
      const { err, logs, balance_changes } = await rehearseExecution(squads.node, folder, executed)
      expect([err === null, balance_changes]).toEqual([false, []])
      expect(logs.join('\n')).toContain('insufficient lamports')
    }
  })

  it('runs 55 transfers that take their accounts from a lookup table', async () => {
    const squads = await openSquads()
    const { node, multisig, vault } = squads
    const wallets = Array.from({ length: 55 }, () => someone())
    const table = lookupTable(squads, wallets)
    const message = compiled(
      vault,
      wallets.map((to) => squads.pay(to, 1_000_000)),
      table,
    )
    const executed = { multisig, index: 1n, vaultIndex: 0, ephemeralSigners: 0, message }
    const { exact, err, logs, balance_changes } = await rehearseExecution(node, PROGRAMS_DIR, executed)
    expect(err, logs.slice(-3).join('\n')).toBeNull()
    expect([exact, balance_changes.length]).toEqual([true, 56])
    expect(balance_changes[0]).toMatchObject({ address: vault, change: '-55000000' })
  })
})
