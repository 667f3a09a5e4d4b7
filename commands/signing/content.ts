/**
 * Shows a decoded transaction on a terminal of 80 columns: signers, instructions, cost, expiry, and what a simulation
 * changes.
 */
import type { ClusterState } from '../../src/api/service.ts'
import type { Simulation } from '../../src/api/transactions.ts'
import { BLOCKHASH_SLOTS } from '../../src/solana/constants.ts'
import { type AddressNames, instructionTexts } from '../../src/solana/described-instructions.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { fittingText, printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { lifetimeText, secondsLeftText, secondsOf } from './lifetime.ts'
import { type TakenAddress, takenLines } from './lookup-tables.ts'
import { controlLines, failureLines, previewLine, rentLine } from './preview.ts'
import type { DescribedContent, Explanation, MessageConfig } from './wallet.ts'

/** The columns for which the text is laid out, on a terminal or not. */
const COLUMNS = 80

/** What the API and its node know of a transaction; null if they were not asked or could not answer. */
export interface Findings {
  trial: { simulation: Simulation; fault: Explanation | null } | null
  state: ClusterState | null
  /** From the build, if the input has it. */
  lastValid: number | undefined
  /** Seconds until the build expires, by the clock of this machine, if it says when. */
  left?: number | undefined
  /** Why there is no simulation. */
  untried: string
  /** Names of addresses in it. */
  names?: AddressNames
  /** What it takes from lookup tables, if that was read. */
  taken?: readonly TakenAddress[]
}

export async function contentOutcome(described: DescribedContent, findings: Findings): Promise<CommandOutcome> {
  const content = withMints(described, findings.trial?.simulation ?? null)
  const { trial, state, lastValid, names = new Map(), taken = [] } = findings
  const expiry = {
    blockhash_valid: state?.blockhash_valid ?? null,
    last_valid_block_height: lastValid ?? null,
    block_height: state?.block_height ?? null,
    slot_ms: state?.slot_ms ?? null,
  }
  const { version, signature, fee_payer, recent_blockhash, size, signers, instructions, config } = content
  const lines = [
    previewLine('version', String(version)).slice(2),
    ...(signature === null ? ['signature none yet'] : ['signature', signature]),
    previewLine('fee payer', fee_payer).slice(2),
    previewLine('blockhash', recent_blockhash).slice(2),
    previewLine('expires', expiryText(content, findings)).slice(2),
    previewLine('size', `${size} bytes`).slice(2),
    previewLine('fee', `${solOf(BigInt(content.fee))} SOL`).slice(2),
    ...(trial === null ? [] : [rentLine(trial.simulation).slice(2)]),
    ...unguardedRows(content),
    ...(config === null ? [] : configRows(config).map(([name, value]) => previewLine(name, value).slice(2))),
    'signatures',
    ...signers.map(({ address, signature }) => previewLine(signature, address)),
    ...takenLines(taken),
    ...instructionTexts(instructions, names),
    ...simulationLines(findings),
  ]
  return {
    data: {
      ...content,
      ...(taken.length === 0 ? {} : { loaded_addresses: taken }),
      expiry,
      trial: trial?.simulation ?? null,
    },
    text: lines.some((line) => line.length > COLUMNS)
      ? await fittingText(lines.map(printable).join('\n'), COLUMNS)
      : lines.map(printable).join('\n'),
  }
}

/** Nothing for a transaction that fails unless conditions hold, which are shown with its instructions. */
function unguardedRows({ instructions, signers }: DescribedContent): string[] {
  if (instructions.some(({ conditions }) => conditions.length > 0)) return []
  const isSigned = signers.some(({ signature }) => signature !== 'missing')
  const why = isSigned ? 'none, and adding some would void its signatures' : 'none: it may take more when it lands'
  return [previewLine('guards', why).slice(2)]
}

/** The budget that a message of version 1 sets; Compute Budget instructions have no effect in it. */
const configRows = (config: MessageConfig) =>
  [
    ['priority', `${solOf(BigInt(config.priority_fee ?? 0))} SOL`],
    ['limits', `${config.compute_unit_limit ?? 0} compute units`],
    ['', `${config.loaded_accounts_data_size_limit ?? 0} bytes of accounts`],
    ['', `${config.heap_size ?? 32_768} bytes of heap`],
  ] as const

function expiryText({ nonce_account }: DescribedContent, { state, lastValid, left }: Findings): string {
  if (nonce_account !== null) return `never by itself, with the durable nonce ${nonce_account}`
  const isOver = state?.blockhash_valid === false
  if (isOver) return 'expired: it can no longer land; `svc tx refresh` gives a build a fresh blockhash'
  if (state === null && left !== undefined)
    return left > 0 ? `in about ${counted(left, 'second')}` : secondsLeftText(left)
  const lifetime = lifetimeText(lastValid, state)
  if (lifetime !== null) return lifetime
  if (state === null) return 'not known without asking: 150 blocks after its blockhash'
  const most = state.slot_ms === null ? '' : `, ${secondsOf(BLOCKHASH_SLOTS, state.slot_ms)} seconds`
  return `it can land now, and for at most ${BLOCKHASH_SLOTS} blocks more${most}`
}

/**
 * Adds the mint and decimals of an amount from the accounts that a simulation changes. An account that is of one mint
 * before and of another after it stays without.
 */
export function withMints(
  content: DescribedContent,
  trial: Pick<Simulation, 'balance_changes'> | null,
): DescribedContent {
  const rows = (trial?.balance_changes ?? []).filter(({ mint }) => mint !== null)
  const mintOf = (address: string | null) => {
    if (address === WRAPPED_SOL) return address
    const named = rows.filter((row) => row.address === address || row.mint === address)
    const [mint = null, ...others] = new Set(named.map((row) => row.mint))
    return others.length === 0 ? mint : null
  }
  const decimalsOf = (mint: string | null) =>
    mint === WRAPPED_SOL ? LAMPORT_DECIMALS : (rows.find((row) => row.mint === mint)?.decimals ?? null)
  return {
    ...content,
    instructions: content.instructions.map((instruction) => ({
      ...instruction,
      args: instruction.args.map((arg) => {
        if (arg.unit !== 'tokens') return arg
        const mint = arg.mint ?? mintOf(arg.of)
        return { ...arg, mint, decimals: arg.decimals ?? decimalsOf(mint) }
      }),
    })),
  }
}

function simulationLines({ trial, untried }: Findings): string[] {
  if (trial === null) return [`simulation  ${untried}`]
  const { simulation, fault } = trial
  if (fault !== null) return ['simulation', ...failureLines(simulation, fault)]
  return [
    `simulation  succeeds, with ${simulation.units_consumed ?? 'unknown'} compute units; it would change`,
    ...changedLines(simulation.balance_changes),
    ...controlLines(simulation.control_changes),
  ]
}

/** The accounts whose balances change, each with its owner and amounts. */
export function changedLines(changes: Simulation['balance_changes']): string[] {
  const addresses = [...new Set(changes.map(({ address }) => address))]
  return addresses.flatMap((address) => changedAccountLines(changes.filter((change) => change.address === address)))
}

function changedAccountLines(changes: Simulation['balance_changes']): string[] {
  const [first] = changes
  if (first === undefined) return []
  const [isMade, isClosed] = [changes.some(({ created }) => created), changes.some(({ closed }) => closed)]
  const owner = changes.find(({ owner }) => owner !== null)?.owner ?? null
  return [
    `  ${first.address}${isMade ? '  made' : isClosed ? '  closed' : ''}`,
    ...(owner === null ? [] : [`    held by ${owner}`]),
    ...changes.flatMap(({ mint, decimals, before, after, change }) => {
      const digits = mint === null ? LAMPORT_DECIMALS : (decimals ?? 0)
      const amount = groupedDecimalOf(BigInt(change), digits)
      const signed = amount.startsWith('-') ? amount : `+${amount}`
      const range = `(${groupedDecimalOf(BigInt(before), digits)} → ${groupedDecimalOf(BigInt(after), digits)})`
      if (mint === null) return [`    ${signed} SOL ${range}`]
      return [`    ${signed}${decimals === null ? ' raw units' : ''} ${range}`, `      of ${mint}`]
    }),
  ]
}
