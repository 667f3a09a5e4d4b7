/** Multisigs of Squads v4 on an embedded chain, with the real program, and Squads' own client. */
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildVote,
  readMultisig,
  readProposal,
  readSquadsSettings,
} from '../../src/chain/programs/squads/index.ts'
import { withBlockhash } from '../../src/chain/sending/cosign.ts'
import type { UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { decodeWireTransaction, messageBytesOf, signatureOffset } from '../../src/solana/messages.ts'
import { LOOKUP_TABLE_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { signFresh } from '../../src/solana/signatures.ts'
import {
  ephemeralSignersOf,
  innerMessageOf,
  type PinnedMessage,
  type SquadsMember,
  vaultAddress,
} from '../../src/solana/squads/index.ts'
import { hasProgram, openTestChain, PROGRAMS_DIR, SOL, type TestChain, V1_CONFIG } from './local-chain.ts'
import { embeddedNode, type TestNode } from './node.ts'
import { addressOf } from './wallets.ts'

export { addressOf }

/** Signs with those of the keys that must sign, with the newest blockhash. */
function signedOn(chain: LocalChain, { transaction }: UnsignedTransaction, keys: readonly Keypair[]): Uint8Array {
  const fresh = withBlockhash(transaction, chain.latestBlockhash().blockhash)
  const message = messageBytesOf(fresh)
  const { signers, keys: addresses } = decodeWireTransaction(fresh).message
  for (const [place, address] of addresses.slice(0, signers).entries()) {
    const key = keys.find((each) => addressOf(each) === address)
    if (key === undefined) throw new Error(`${address} must sign`)
    fresh.set(signFresh(key.secretKey, message), signatureOffset(fresh, place))
  }
  return fresh
}

/** The same, and lands it. */
export function landOn(test: TestChain, built: UnsignedTransaction, keys: readonly Keypair[]) {
  const fresh = signedOn(test.chain, built, keys)
  // The next transaction has another blockhash, so that two equal ones are not the same.
  test.wall.ms += 1_000
  return test.chain.send(fresh)
}

/** The execution of a proposal as the chain has it, by the member of the envelope. */
async function executionOn(
  node: TestNode,
  envelope: { payer: string; recentBlockhash: string; multisig: string; index: bigint; member: string },
  cosigners: string[] = [],
) {
  const { transaction } = await readProposal(node, envelope.multisig, envelope.index)
  if (transaction === null) throw new Error('there is no such transaction')
  const before = [ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 })]
  return buildExecution({ ...transaction, ...envelope, before, cosigners })
}

/** The members approve a proposal, and the last of them executes it: what the chain has then is confirmed. */
export async function carryOutOn(
  chain: LocalChain,
  { multisig, index, members }: { multisig: string; index: bigint; members: readonly Keypair[] },
): Promise<void> {
  const envelope = (by: Keypair) => ({
    ...{ payer: addressOf(by), member: addressOf(by), recentBlockhash: chain.latestBlockhash().blockhash },
    ...{ multisig, index },
  })
  const land = (built: UnsignedTransaction, by: Keypair) => {
    const { err, logs } = chain.send(signedOn(chain, built, [by]))
    if (err !== null) throw new Error(logs.join('\n'))
  }
  for (const by of members) land(await buildVote('approve', envelope(by)), by)
  const by = members.at(-1)!
  land(await executionOn(embeddedNode(chain), envelope(by)), by)
  chain.advance(1)
}

/** Puts a lookup table on the chain, usable at once, and returns it as web3.js takes it. */
export function lookupTable({ chain }: Pick<SquadsChain, 'chain'>, addresses: readonly PublicKey[]) {
  const key = Keypair.generate().publicKey
  const data = Buffer.alloc(56 + 32 * addresses.length)
  data.writeUInt32LE(1, 0)
  data.writeBigUInt64LE(2n ** 64n - 1n, 4)
  for (const [i, address] of addresses.entries()) data.set(address.toBytes(), 56 + 32 * i)
  chain.setAccount(key.toBase58(), { lamports: SOL, owner: LOOKUP_TABLE_PROGRAM, data, executable: false })
  return new AddressLookupTableAccount({ key, state: AddressLookupTableAccount.deserialize(data) })
}

/** A message of the vault whose accounts are taken from a lookup table where they can be. */
export function compiled(
  vault: string,
  instructions: TransactionInstruction[],
  table: AddressLookupTableAccount,
): PinnedMessage {
  const message = new TransactionMessage({
    payerKey: new PublicKey(vault),
    recentBlockhash: PublicKey.default.toBase58(),
    instructions,
  })
  const raw = new VersionedTransaction(message.compileToV0Message([table])).serialize()
  const decoded = decodeWireTransaction(raw)
  const at = (kind: 'writable' | 'readonly') =>
    decoded.message.lookups.flatMap((lookup) =>
      Array.from(lookup[kind], (place) => table.state.addresses[place]!.toBase58()),
    )
  return innerMessageOf(decoded, { vault, loaded: { writable: at('writable'), readonly: at('readonly') } })
}

/** Part of titles: what is lacking to run Squads. */
export const lacksSquads = hasProgram(PROGRAMS.squads.id) ? '' : 'needs Squads v4 in the program cache'

/** Rights of a member: any of `initiate`, `vote` and `execute`. */
export const member = (key: Keypair, rights: 'i' | 'v' | 'x' | 'iv' | 'ix' | 'ivx' = 'ivx'): SquadsMember => ({
  address: addressOf(key),
  initiate: rights.includes('i'),
  vote: rights.includes('v'),
  execute: rights.includes('x'),
})

export type SquadsChain = Awaited<ReturnType<typeof openSquads>>

interface Wish {
  threshold?: number
  timeLock?: number
  /** Rights of the proposer, who is a member beside the three others. */
  proposer?: 'i' | 'ix' | 'ivx'
  rentCollector?: boolean
  configAuthority?: string
}

/** A chain with a multisig of a proposer and three members, whose vault 0 has 100 SOL. */
export async function openSquads({ threshold = 2, timeLock = 0, proposer = 'ix', ...wish }: Wish = {}) {
  const test = await openTestChain({ programsDir: PROGRAMS_DIR })
  const { chain } = test
  const node = embeddedNode(chain)
  const [svc, a, b, c] = [test.wallet(), test.wallet(), test.wallet(), test.wallet()]
  const createKey = Keypair.generate()
  const blockhash = () => chain.latestBlockhash().blockhash
  const envelope = (payer: Keypair = svc) => ({ payer: addressOf(payer), recentBlockhash: blockhash() })

  const land = (built: UnsignedTransaction, ...keys: Keypair[]) => landOn(test, built, keys)

  const made = await buildMultisigCreation({
    ...envelope(),
    createKey: addressOf(createKey),
    treasury: (await readSquadsSettings(node)).treasury,
    threshold,
    timeLock,
    members: [member(svc, proposer), member(a), member(b), member(c)],
    rentCollector: wish.rentCollector === false ? null : addressOf(svc),
    configAuthority: wish.configAuthority ?? null,
  })
  const created = land(made, svc, createKey)
  if (created.err !== null) throw new Error(created.logs.join('\n'))
  const { multisig } = made
  const vault = vaultAddress(multisig, 0)
  chain.airdrop(vault, 100n * SOL)

  /** What a builder makes of instructions that the vault pays for. */
  const wrapped = (instructions: TransactionInstruction[], ephemeral: string[] = []): PinnedMessage => {
    const { transaction } = compileTransaction({
      payer: keyOf(vault),
      recentBlockhash: blockhash(),
      instructions,
      // It has more room than version 0, as builders use it.
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    return innerMessageOf(decodeWireTransaction(transaction), { vault, ephemeral })
  }
  const nextIndex = async () => (await readMultisig(node, multisig)).transactionIndex + 1n

  /** Proposes and lands; the transaction of all must succeed. */
  const propose = async (
    inner: PinnedMessage,
    {
      by = svc,
      approve = false,
      ephemeralSigners = 0,
      index,
    }: { by?: Keypair; approve?: boolean; ephemeralSigners?: number; index?: bigint } = {},
  ) => {
    const at = index ?? (await nextIndex())
    const terms = { multisig, vaultIndex: 0, index: at, member: addressOf(by), inner, ephemeralSigners, approve }
    const built = await buildProposalCreation({ ...envelope(by), ...terms })
    const landed = built.transactions.map((transaction) => land(transaction, by))
    const failed = landed.find(({ err }) => err !== null)
    if (failed) throw Object.assign(new Error(failed.logs.join('\n')), { landed: failed })
    return { ...built, index: at, landed }
  }
  const vote = async (kind: 'approve' | 'reject' | 'cancel', index: bigint, by: Keypair) =>
    land(await buildVote(kind, { ...envelope(by), multisig, index, member: addressOf(by) }), by)
  const execution = (index: bigint, by: Keypair = svc, cosigners: Keypair[] = []) =>
    executionOn(node, { ...envelope(by), multisig, index, member: addressOf(by) }, cosigners.map(addressOf))
  const execute = async (index: bigint, by: Keypair = svc, cosigners: Keypair[] = []) =>
    land(await execution(index, by, cosigners), by, ...cosigners)

  return {
    ...{ test, chain, node, svc, a, b, c, multisig, vault, createKey, envelope, land, wrapped, nextIndex },
    ...{ propose, vote, execution, execute },
    /** Lands instructions of another client. */
    send(instructions: TransactionInstruction[], signers: Keypair[], tables: AddressLookupTableAccount[] = []) {
      test.wall.ms += 1_000
      return test.send(instructions, signers, { tables })
    },
    /** A transfer out of the vault. */
    pay: (to: PublicKey, lamports: number | bigint) =>
      SystemProgram.transfer({ fromPubkey: keyOf(vault), toPubkey: to, lamports }),
    ephemeral: (index: bigint, count: number) => ephemeralSignersOf(multisig, index, count),
    async approved(index: bigint) {
      for (const by of [a, b]) {
        const { err, logs } = await vote('approve', index, by)
        if (err !== null) throw new Error(logs.join('\n'))
      }
    },
  }
}

export const keyOf = (address: string): PublicKey => new PublicKey(address)
