/** The platform wallet as a member of a Squads multisig: it may propose, and decides nothing unless the policy lists Squads. */
import type { Keypair } from '@solana/web3.js'
import { SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildReclaim,
  buildVote,
  readProposal,
  readSquadsSettings,
} from '../../src/chain/programs/squads/index.ts'
import { DEFAULT_PROGRAMS } from '../../src/policy/policy.ts'
import { checkPolicy } from '../../src/policy/rules/check-policy.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { V1_CONFIG } from '../support/local-chain.ts'
import { keyOf, lacksSquads, member } from '../support/squads.ts'
import { GENEROUS, NOTHING_SPENT, openScene, type Scene, SOL } from './movements-support.ts'

const LISTED = [...DEFAULT_PROGRAMS, PROGRAMS.squads.id]

/** The wallet with every right, and two others; the multisig's rent goes to the wallet unless it goes elsewhere. */
async function openVault(rentCollector?: string) {
  const scene = await openScene({ programs: true })
  const { local, chain, wallet, address } = scene
  const [a, b, createKey] = [scene.funded(SOL), scene.funded(SOL), scene.funded(SOL)]
  const envelope = (payer = address) => ({ payer, recentBlockhash: local.latestBlockhash().blockhash })
  const text = (key: Keypair) => key.publicKey.toBase58()
  const made = await buildMultisigCreation({
    ...envelope(),
    ...{ createKey: text(createKey), treasury: (await readSquadsSettings(chain)).treasury, threshold: 2 },
    members: [member(wallet), member(a), member(b)],
    rentCollector: rentCollector ?? address,
  })
  const send = (built: { transaction: Uint8Array }, ...keys: Keypair[]) => {
    scene.sendBuilt(built, keys)
    local.advance(1)
  }
  send(made, wallet, createKey)
  const { multisig } = made
  const vault = vaultAddress(multisig, 0)
  local.airdrop(vault, 100n * SOL)
  const inner = (payments: number) => {
    const { transaction } = compileTransaction({
      payer: keyOf(vault),
      recentBlockhash: envelope().recentBlockhash,
      instructions: Array.from({ length: payments }, () =>
        SystemProgram.transfer({ fromPubkey: keyOf(vault), toPubkey: scene.key, lamports: SOL }),
      ),
      config: V1_CONFIG,
      bytesOf: (key) => key.toBytes(),
    })
    return innerMessageOf(decodeWireTransaction(transaction), { vault })
  }
  const creation = (index: bigint, { payments = 1, approve = false } = {}) => {
    const terms = {
      multisig,
      vaultIndex: 0,
      index,
      member: address,
      inner: inner(payments),
      ephemeralSigners: 0,
      approve,
    }
    return buildProposalCreation({ ...envelope(), ...terms })
  }
  const vote = (kind: 'approve' | 'reject' | 'cancel', index: bigint, key = wallet) =>
    buildVote(kind, { ...envelope(text(key)), multisig, index, member: text(key) })
  return { scene, wallet, a, b, multisig, address, envelope, send, creation, vote }
}

/** What the default policy and one that lists Squads say of it. */
async function rulesOf(scene: Scene, built: { transaction: Uint8Array }) {
  const movement = await scene.readBuilt(built)
  return [scene.ruleOf(movement), scene.ruleOf(movement, { policy: { programs: LISTED } })]
}

describe.skipIf(lacksSquads)(`the platform wallet as a member of a multisig ${lacksSquads}`, () => {
  it('may propose, also through a buffer and to a multisig among the destinations, and close its buffer', async () => {
    const { scene, wallet, creation, send, multisig, envelope } = await openVault()
    const [small] = (await creation(1n)).transactions
    expect(await rulesOf(scene, small!)).toEqual([null, null])
    const movement = await scene.readBuilt(small!)
    // Anybody can make the wallet a member of a multisig that gives the rent to somebody else.
    expect(scene.ruleOf(movement, { policy: { destinations: [] } })).toBe('destination')
    expect(scene.ruleOf(movement, { policy: { destinations: [vaultAddress(multisig, 0)] } })).toBe('destination')
    expect(scene.ruleOf(movement, { policy: { destinations: [multisig] } })).toBeNull()
    // The rent counts as spent.
    expect(scene.ruleOf(movement, { policy: { lamports_per_transaction: 1_000_000n } })).toBe(
      'lamports_per_transaction',
    )
    send(small!, wallet)
    const { transactions } = await creation(2n, { payments: 60 })
    expect(transactions).toHaveLength(3)
    for (const transaction of transactions) {
      expect(await rulesOf(scene, transaction)).toEqual([null, null])
      send(transaction, wallet)
    }
    const [started] = (await creation(3n, { payments: 59 })).transactions
    send(started!, wallet)
    const closing = await buildReclaim({ ...envelope(), multisig, index: 3n, rentCollector: null, buffers: [0] })
    expect(await rulesOf(scene, closing)).toEqual([null, null])
  })

  it('may not vote or execute, unless the policy lists the program', async () => {
    const { scene, wallet, a, b, multisig, address, envelope, send, creation, vote } = await openVault()
    const [approving] = (await creation(1n, { approve: true })).transactions
    expect(await rulesOf(scene, approving!)).toEqual(['program', null])
    const [proposed] = (await creation(1n)).transactions
    send(proposed!, wallet)
    for (const kind of ['approve', 'reject'] as const) {
      expect(await rulesOf(scene, await vote(kind, 1n))).toEqual(['program', null])
    }
    for (const key of [a, b]) send(await vote('approve', 1n, key), key)
    expect(await rulesOf(scene, await vote('cancel', 1n))).toEqual(['program', null])
    const { transaction } = await readProposal(scene.chain, multisig, 1n)
    const execution = await buildExecution({ ...envelope(), ...transaction!, member: address })
    expect(await rulesOf(scene, execution)).toEqual(['program', null])
    const refusal = checkPolicy(await scene.readBuilt(execution), GENEROUS, NOTHING_SPENT, { role: 'pays' })
    expect(refusal).toMatchObject({
      message:
        'Refused by the rule program: instruction 0 does more in Squads v4 than propose, for example approve or execute. Let the other members do that, or allow it with `svc signer policy --programs` if the platform wallet may decide for the vault',
      details: { program: PROGRAMS.squads.id, where: 'instruction 0' },
    })
    // Whoever pays for a reclaim only helps the rent collector, here the wallet itself.
    send(
      await buildExecution({ ...envelope(a.publicKey.toBase58()), ...transaction!, member: a.publicKey.toBase58() }),
      a,
    )
    const reclaim = await buildReclaim({ ...envelope(), multisig, index: 1n, rentCollector: address })
    expect(await rulesOf(scene, reclaim)).toEqual([null, null])
  })
})
