/** Plays proposals to a vault: executed, rejected, cancelled, and stored in parts. */
import { memoInstruction } from '../../src/chain/programs/memos.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import {
  buildExecution,
  buildMultisigCreation,
  buildProposalCreation,
  buildReclaim,
  buildVote,
  readMultisig,
  readProposal,
  readSquadsSettings,
} from '../../src/chain/programs/squads/index.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { compileUnsigned, type UnsignedTransaction } from '../../src/chain/sending/unsigned.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { FreshKey } from '../../src/solana/signatures.ts'
import { innerMessageOf, vaultAddress } from '../../src/solana/squads/index.ts'
import { SOL, type Stage } from './stage.ts'

/** Bytes of a text with which a message takes a buffer that is filled in two transactions. */
const LONG_TEXT = 900
/** Number of a buffer that no proposal of the other acts fills. */
const LEFT_BUFFER = 1

/** A platform that may only propose, and two members who decide. */
export async function playVault(stage: Stage): Promise<void> {
  const { act, chain, node, land } = stage
  const [proposer, first, second, createKey] = [stage.wallet(), stage.wallet(), stage.wallet(), stage.wallet()]
  const envelope = async ({ address }: FreshKey) => {
    const { blockhash } = await readLatestBlockhash(node)
    return { payer: address, recentBlockhash: blockhash }
  }
  const send = ({ transaction }: UnsignedTransaction, ...keys: FreshKey[]) =>
    land(Buffer.from(transaction).toString('base64'), ...keys)
  let multisig = ''

  /** Builds the next proposal, whose message has a text of this length. */
  const propose = async (textBytes: number, bufferIndex = 0) => {
    const index = (await readMultisig(node, multisig)).transactionIndex + 1n
    const inner = await payment(stage, vaultAddress(multisig, 0), 'x'.repeat(textBytes))
    const terms = { multisig, index, vaultIndex: 0, member: proposer.address, inner, ephemeralSigners: 0 }
    const more = { approve: false, bufferIndex }
    return { index, ...(await buildProposalCreation({ ...(await envelope(proposer)), ...terms, ...more })) }
  }
  const proposed = async (textBytes = 0) => {
    const { index, transactions } = await propose(textBytes)
    for (const transaction of transactions) send(transaction, proposer)
    return index
  }
  const vote = async (kind: 'approve' | 'reject' | 'cancel', index: bigint, ...voters: FreshKey[]) => {
    for (const voter of voters) {
      send(await buildVote(kind, { ...(await envelope(voter)), multisig, index, member: voter.address }), voter)
    }
  }
  const reclaim = async (index: bigint, rentCollector: string | null, buffers: readonly number[] = []) => {
    send(await buildReclaim({ ...(await envelope(proposer)), multisig, index, rentCollector, buffers }), proposer)
  }
  let executed = 0n

  await act('create a multisig', [], async () => {
    await requireProgram(node, PROGRAMS.squads)
    const rights = { initiate: true, vote: true, execute: true }
    const members = [
      { address: proposer.address, initiate: true, vote: false, execute: false },
      ...[first, second].map(({ address }) => ({ address, ...rights })),
    ]
    const { treasury } = await readSquadsSettings(node)
    const terms = { createKey: createKey.address, treasury, threshold: 2, members, rentCollector: proposer.address }
    const built = await buildMultisigCreation({ ...(await envelope(proposer)), ...terms })
    send(built, proposer, createKey)
    multisig = built.multisig
    chain.airdrop(vaultAddress(multisig, 0), SOL)
  })
  await act('propose to a vault', ['create a multisig'], async () => {
    executed = await proposed()
  })
  await act('execute a proposal', ['propose to a vault'], async () => {
    await vote('approve', executed, first, second)
    const { transaction } = await readProposal(node, multisig, executed)
    if (transaction === null) throw new Error('the proposal was not stored')
    const terms = { ...(await envelope(first)), ...transaction, member: first.address }
    send(await buildExecution(terms), first)
  })
  await act('close a proposal', ['execute a proposal'], () => reclaim(executed, proposer.address))
  // Two of two must approve, so one rejection decides.
  await act('reject a proposal', ['propose to a vault'], async () => vote('reject', await proposed(), first))
  await act('cancel a proposal', ['propose to a vault'], async () => {
    const index = await proposed()
    await vote('approve', index, first, second)
    await vote('cancel', index, first, second)
  })
  await act('propose in parts', ['create a multisig'], async () => {
    await proposed(LONG_TEXT)
  })
  await act('close a buffer', ['create a multisig'], async () => {
    const { index, transactions } = await propose(LONG_TEXT, LEFT_BUFFER)
    const [creation] = transactions
    if (creation === undefined) throw new Error('the proposal was not built')
    send(creation, proposer)
    await reclaim(index, null, [LEFT_BUFFER])
  })
}

/** A message with which a vault sends half a SOL to the platform, and says something. */
async function payment({ node, platform }: Stage, vault: string, text: string) {
  const { PublicKey, SystemProgram } = await import('@solana/web3.js')
  const { blockhash } = await readLatestBlockhash(node)
  const [fromPubkey, toPubkey] = [new PublicKey(vault), new PublicKey(platform.address)]
  const pay = SystemProgram.transfer({ fromPubkey, toPubkey, lamports: SOL / 2n })
  const memo = text === '' ? [] : [await memoInstruction(text, [vault])]
  const { transaction } = await compileUnsigned({ payer: vault, recentBlockhash: blockhash }, [pay, ...memo])
  return innerMessageOf(decodeWireTransaction(transaction), { vault })
}
