/** An instruction with everything that it names, and the one text of it that people read before they sign or approve. */
import { groupedDecimalOf } from './amounts.ts'
import { SOL_DECIMALS } from './constants.ts'
import type { MessageInstruction } from './message-instructions.ts'
import { CLOCK_SYSVAR, INCINERATOR, INSTRUCTIONS_SYSVAR, RENT_SYSVAR, WRAPPED_SOL } from './program-ids.ts'
import { programName } from './programs.ts'
import { MAX_U64 } from './u64.ts'

/** One argument. Texts come from the transaction and are unchecked. */
export interface InstructionArgument {
  name: string
  value: string
  /** What the value counts; null for anything else. */
  unit: 'lamports' | 'tokens' | null
  /** For tokens: their mint, or an account that holds them; null if the instruction names none. */
  of: string | null
  /** For tokens: their mint, if it is known. */
  mint?: string | null
  /** For tokens: the decimals that the transaction names; null if it does not. */
  decimals: number | null
}

export interface DescribedInstruction extends Omit<MessageInstruction, 'accounts'> {
  /** The instruction's name; null for one that svc does not know. */
  instruction: string | null
  /** The role is null if svc knows none. */
  accounts: (MessageInstruction['accounts'][number] & { role: string | null })[]
  args: InstructionArgument[]
  /** Who gains or loses which control, in sentences; empty if the instruction changes none that svc knows of. */
  control: string[]
  /** What has to hold for the instruction, in clauses: if one does not, the whole transaction fails. */
  conditions: string[]
  /** The data in hex from the first byte that no argument explains; empty if all are explained. */
  rest: string
  /** What a proposal to a Squads multisig would execute, described in the same way; absent from all others. */
  inner?: DescribedInstruction[]
}

/** Names of addresses, such as this vault, a member, or the symbol of a mint. They are unchecked like arguments. */
export type AddressNames = ReadonlyMap<string, string>

const NAMES: AddressNames = new Map([
  [WRAPPED_SOL, 'wrapped SOL'],
  [INCINERATOR, 'the incinerator'],
  [CLOCK_SYSVAR, 'clock'],
  [RENT_SYSVAR, 'rent'],
  [INSTRUCTIONS_SYSVAR, 'instructions'],
])

/** The name of an address: one of `names`, or what everybody calls it; null without one. */
export const nameOf = (address: string, names: AddressNames) =>
  names.get(address) ?? NAMES.get(address) ?? programName(address)

/** Laid out for a terminal or a page of 80 columns, in which it may be indented by four. */
const COLUMNS = 76
/** An address has at most 44 characters. */
const ADDRESS = /[1-9A-HJ-NP-Za-km-z]{32,44}/g

/**
 * The whole text of instructions, in lines: what changes control, what has to hold, then of each instruction every
 * argument, every account with its role and name, and the data that no argument explains. Whoever shows it prints its
 * characters clean.
 */
export function instructionTexts(instructions: readonly DescribedInstruction[], names: AddressNames): string[] {
  const control = sentenceLines(instructions, 'control', '', names)
  const conditions = sentenceLines(instructions, 'conditions', '', names)
  return [
    ...(control.length === 0 ? [] : ['changes who controls something', ...control]),
    ...(conditions.length === 0 ? [] : ['fails as a whole unless', ...conditions]),
    ...instructions.flatMap((each, i) => instructionText(each, String(i), names)),
  ]
}

function sentenceLines(
  instructions: readonly DescribedInstruction[],
  kind: 'control' | 'conditions',
  lead: string,
  names: AddressNames,
): string[] {
  return instructions.flatMap(({ [kind]: sentences, inner = [] }, i) => [
    // What follows a break is further in than a sentence begins, so that no text of a stranger looks like one.
    ...sentences.flatMap((sentence) => brokenLines(2, `${lead}${i}: ${withNames(sentence, names)}`, 5)),
    ...sentenceLines(inner, kind, `${lead}${i}.`, names),
  ])
}

function instructionText(described: DescribedInstruction, place: string, names: AddressNames): string[] {
  const { program, name, instruction, args, accounts, rest, inner } = described
  const isUnknown = instruction === null
  return [
    ...headLines(`instruction ${place}: `, name, program),
    `  ${instruction ?? 'an instruction that svc does not know'}`,
    ...args.flatMap((arg) => argumentLines(arg, names, inner !== undefined)),
    ...accounts.flatMap((account) => accountLines(account, program, names)),
    ...(isUnknown && rest === '' ? ['  data  none'] : []),
    ...(rest === '' ? [] : pairLines(isUnknown ? 'data' : 'bytes that svc cannot explain', rest, 2)),
    ...(inner === undefined ? [] : ['  proposes that the vault executes']),
    ...(inner ?? []).flatMap((each, i) => instructionText(each, `${place}.${i}`, names)),
  ]
}

/** The sentences of all instructions about control, with names. */
export const controlSentences = (instructions: readonly DescribedInstruction[], names: AddressNames): string[] =>
  instructions.flatMap(({ control, inner = [] }) => [
    ...control.map((sentence) => withNames(sentence, names)),
    ...controlSentences(inner, names),
  ])

/** The mints that the instructions name. */
export const mintsIn = (instructions: readonly DescribedInstruction[]): string[] => [
  ...new Set(
    instructions.flatMap(({ accounts, args, inner = [] }) => [
      ...accounts.flatMap(({ role, address }) => (role !== null && /(?:^|_)mint$/.test(role) ? [address] : [])),
      ...args.flatMap(({ mint }) => mint ?? []),
      ...mintsIn(inner),
    ]),
  ),
]

const withNames = (sentence: string, names: AddressNames) =>
  sentence.replace(ADDRESS, (address) => {
    const name = nameOf(address, names)
    return name === null ? address : `${address} (${name})`
  })

function headLines(lead: string, name: string | null, program: string): string[] {
  if (name === null) return [`${lead}${program}`]
  const whole = `${lead}${name} (${program})`
  return widthOf(whole) <= COLUMNS ? [whole] : [`${lead}${name}`, `  (${program})`]
}

/** `w` is writable, `s` signs. */
function accountLines(
  { address, signer, writable, role }: DescribedInstruction['accounts'][number],
  program: string,
  names: AddressNames,
) {
  // Programs with optional accounts write the program itself for one that is left out.
  const isLeftOut = address === program && role !== null && !role.endsWith('program')
  const name = isLeftOut ? 'left out' : nameOf(address, names)
  const whole = `${writable ? 'w' : '-'}${signer ? 's' : '-'}  ${address}  ${role ?? 'further account'}`
  if (name === null) return brokenLines(2, whole)
  const named = `  ${whole} (${name})`
  return widthOf(named) <= COLUMNS ? [named] : [...brokenLines(2, whole), ...brokenLines(6, `(${name})`)]
}

/** An amount of tokens has its mint on a second line if both do not fit on one. */
export function argumentLines(
  { name, value, unit, mint = null, decimals }: InstructionArgument,
  names: AddressNames,
  isDecodedBelow = false,
): string[] {
  if (isDecodedBelow && name === 'transaction_message') return [`    ${name}  ${value.length / 2} bytes, decoded below`]
  if (unit === null) return pairLines(name, named(withDate(name, value), names), 4)
  if (unit === 'lamports' || mint === WRAPPED_SOL) return [`    ${name}  ${amountText(value, SOL_DECIMALS)} SOL`]
  const amount = decimals === null ? `${value} raw units` : amountText(value, decimals)
  const of = mint === null ? '' : named(mint, names)
  const whole = `    ${name}  ${amount}${mint === null ? '' : ` of ${of}`}`
  return widthOf(whole) <= COLUMNS || mint === null
    ? [whole]
    : [`    ${name}  ${amount}`, ...brokenLines(6, `of ${of}`)]
}

const named = (value: string, names: AddressNames) => {
  const name = nameOf(value, names)
  return name === null ? value : `${value} (${name})`
}

function pairLines(name: string, value: string, indent: number): string[] {
  const whole = `${' '.repeat(indent)}${name}  ${value}`
  return widthOf(whole) <= COLUMNS ? [whole] : [`${' '.repeat(indent)}${name}`, ...brokenLines(indent + 2, value)]
}

/** What is shown escaped or not at all, whose escape has six columns for each unit of UTF-16. */
const ESCAPED = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/** The most columns that a text takes on a terminal, where a letter beyond ASCII may take two. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const letter of text) width += /^[ -~]$/.test(letter) ? 1 : ESCAPED.test(letter) ? 6 * letter.length : 2
  return width
}

/** How many units of the text fit, at least one letter of it. */
function fittingLength(text: string, columns: number): number {
  let [length, width] = [0, 0]
  for (const letter of text) {
    width += widthOf(letter)
    if (width > columns && length > 0) break
    length += letter.length
  }
  return length
}

/**
 * Breaks a text at its last space that fits, or, within a long word such as data, at the last column. The lines after
 * the first are indented by `after`, whatever spaces the text has, because it may be a stranger's.
 */
function brokenLines(indent: number, text: string, after = indent): string[] {
  const lines: string[] = []
  let left = text
  for (let lead = indent; ; lead = after) {
    const fits = fittingLength(left, COLUMNS - lead)
    const space = fits === left.length ? -1 : left.lastIndexOf(' ', fits)
    const at = space > 0 ? space : fits
    lines.push(' '.repeat(lead) + left.slice(0, at))
    if (at === left.length) return lines
    left = left.slice(left[at] === ' ' ? at + 1 : at)
    if (left === '') return lines
  }
}

/** Unix seconds of an argument, with their date in UTC. */
function withDate(name: string, value: string): string {
  const isTime = /_(ts|time|timestamp)$/.test(name) && /^\d{9,11}$/.test(value)
  return isTime ? `${value} (${new Date(Number(value) * 1000).toISOString().replace('.000Z', 'Z')})` : value
}

/** The largest possible amount is the whole balance of what is paid, but a minted one is that much. */
const amountText = (value: string, decimals: number): string =>
  `${groupedDecimalOf(BigInt(value), decimals)}${value === String(MAX_U64) ? ' (the largest possible amount)' : ''}`
