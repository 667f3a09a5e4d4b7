/** What acts cost with guards and without, each landed with them. */
import type { LocalChain } from '../../src/localnet/types.ts'
import { type Guard, guardsOfMessage, memoryBytes } from '../../src/solana/guards.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { type ActorOptions, keysIn, openActor, openKinds, transactionsIn } from './act-kinds.ts'

/** Of one transaction, first without guards and then with them. */
export interface ActCost {
  kind: string
  bytes: [number, number]
  units: [number, number]
  /** What the payer has less afterwards, with the fee. */
  lamports: [bigint, bigint]
  /** Lamports that the payer lends until its end. */
  lent: bigint
  guards: readonly Guard[]
}

/** Wallets with SOL, tokens of every kind, pools, and a multisig, and all kinds of acts. */
export async function openGuardedActs(options: ActorOptions) {
  const { chain } = options
  const actor = openActor(options)
  const kinds = await openKinds(actor)
  return {
    kinds: Object.keys(kinds),
    /** Builds it both ways, and lands it with guards. Throws if that fails. */
    async perform(kind: string, tx_version: 0 | 1 = 0): Promise<ActCost[]> {
      const act = await kinds[kind]!()
      const build = (guard: string) => {
        const fresh = 'symbol' in act.body ? { ...act.body, ...actor.texts() } : act.body
        return actor.ask(act.method ?? 'POST', act.path, { ...fresh, guard, tx_version })
      }
      const [plain, guarded] = [await build('off'), await build('when_it_fits')]
      const costs = transactionsIn(guarded).map((text, i): ActCost => {
        const other = transactionsIn(plain)[i] as string
        // What follows another transaction cannot be simulated before that has landed.
        const bare = i === 0 ? simulated(chain, actor.sign(other, keysIn(plain))) : null
        const landed = actor.land(text, keysIn(guarded))
        if (landed.err !== null) {
          const also = bare?.err ? `, and so it does without guards: ${bare.logs.join('\n')}` : ''
          throw new Error(`${kind} fails: ${landed.logs.join('\n')}${also}`)
        }
        const [without, raw] = [other, text].map((each) => Buffer.from(each, 'base64')) as [Buffer, Buffer]
        const guards = guardsIn(raw)
        return {
          kind: i === 0 ? kind : `${kind}, transaction ${i + 1}`,
          bytes: [without.length, raw.length],
          units: [Number(bare?.units ?? landed.unitsConsumed), Number(landed.unitsConsumed)],
          lamports: [bare?.lost ?? lostIn(landed), lostIn(landed)],
          lent: guards.length === 0 ? 0n : chain.minimumBalance(memoryBytes(guards)),
          guards,
        }
      })
      await act.after?.(guarded)
      return costs
    },
  }
}

/** The first of each kind as a table. */
export function costTable(costs: readonly ActCost[]): string {
  const first = costs.filter(({ kind }, i) => costs.findIndex((each) => each.kind === kind) === i)
  const number = (value: number | bigint) => value.toLocaleString('en')
  const pair = ([without, guarded]: [number, number]) => `${number(without)} → ${number(guarded)}`
  const rows = first.map(
    ({ kind, bytes, units, lent }) => `| ${kind} | ${pair(bytes)} | ${pair(units)} | ${number(lent)} |`,
  )
  return ['| Act | Bytes | Compute units | Lent lamports |', '|---|---|---|---|', ...rows].join('\n')
}

/** The guards of a transaction without lookup tables. */
export const guardsIn = (raw: Uint8Array): readonly Guard[] =>
  guardsOfMessage(decodeWireTransaction(raw).message).guards

const lostIn = ({ preBalances, postBalances }: { preBalances: bigint[]; postBalances: bigint[] }): bigint =>
  (preBalances[0] ?? 0n) - (postBalances[0] ?? 0n)

function simulated(chain: LocalChain, raw: Uint8Array) {
  const { err, logs, unitsConsumed, balances } = chain.simulate(raw, { balances: true })
  const [before, after] = [balances?.before.lamports[0] ?? 0n, balances?.after.lamports[0] ?? 0n]
  return { err, logs, units: unitsConsumed, lost: before - after }
}
