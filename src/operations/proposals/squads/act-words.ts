/** Says in one sentence what a proposed request does. */
import { describeMessage } from '../../../chain/instructions/describe.ts'
import { readTokens } from '../../../chain/programs/tokens/index.ts'
import type { Context } from '../../../context.ts'
import { printable } from '../../../platform/printable.ts'
import { groupedDecimalOf, solText } from '../../../solana/amounts.ts'
import { MOST_WHAT } from '../../../solana/decision-texts.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { type AddressNames, controlSentences } from '../../../solana/described-instructions.ts'
import type { PlaceAddresses } from '../../../solana/squads/index.ts'

/** The longest sentence about an act. */
const MOST_WORDS = 300

type Fields = Record<string, unknown>
const text = (value: unknown): string => String(value)

/** Writes an amount of the token that a request names. */
type Units = (raw: bigint) => string

const tokensText = (decimals: number | null): Units =>
  decimals === null ? (raw) => `${groupedDecimalOf(raw, 0)} raw units` : (raw) => groupedDecimalOf(raw, decimals)

/** The amount of one wallet, or the sum for several. */
function countedText(amount: unknown, list: unknown, units: Units): string {
  if (!Array.isArray(list)) return units(BigInt(text(amount)))
  const sum = list.reduce((total: bigint, each: { amount: string }) => total + BigInt(each.amount), 0n)
  return `${units(sum)} (${list.length} wallets)`
}

const walletsText = (wallet: unknown, list: unknown): string =>
  Array.isArray(list) ? `${list.length} wallets` : text(wallet)

/** By the operation, which is a method and the path of a route. */
const WORDS: Record<string, (input: Fields) => string> = {
  'POST /v2/pools': ({ name, symbol, buy_amount: buy }) =>
    `Launch ${text(name)} (${text(symbol)})${buy === undefined || buy === 0 ? '' : ', with a first buy'}`,
  'POST /v2/pools/{address}/swaps': ({ address, side }) =>
    `${side === 'sell' ? 'Sell to' : 'Buy from'} the pool ${text(address)}`,
  'POST /v2/pools/{address}/fee-claims': ({ address, splits }) =>
    `Claim fees of the pool ${text(address)}${Array.isArray(splits) && splits.length > 0 ? `, split among ${splits.length}` : ''}`,
  'POST /v2/pools/{address}/fee-delegations': ({ address, delegate }) =>
    `Let ${text(delegate)} claim fees of the pool ${text(address)}`,
  'POST /v2/pools/{address}/creator-transfers': ({ address, new_creator: to }) =>
    `Make ${text(to)} the creator of the pool ${text(address)}`,
  'POST /v2/pools/{address}/positions': ({ address }) => `Open a position in the pool ${text(address)}`,
  'POST /v2/pools/{address}/positions/{position}/additions': ({ address, position }) =>
    `Add liquidity to the position ${text(position)} in the pool ${text(address)}`,
  'POST /v2/pools/{address}/positions/{position}/removals': ({ address, position }) =>
    `Withdraw liquidity of the position ${text(position)} in the pool ${text(address)}`,
  'POST /v2/pools/{address}/positions/{position}/locks': ({ address, position }) =>
    `Lock liquidity of the position ${text(position)} in the pool ${text(address)} for good`,
  'POST /v2/pools/{address}/positions/{position}/vestings': ({ address, position }) =>
    `Vest liquidity of the position ${text(position)} in the pool ${text(address)}`,
  'POST /v2/pools/{address}/positions/{position}/closings': ({ address, position }) =>
    `Close the position ${text(position)} in the pool ${text(address)}`,
  'POST /v2/pools/{address}/migrations': ({ address }) => `Migrate the pool ${text(address)}`,
  'POST /v2/airdrops': ({ mint, airdrop_count: count }) => `Launch airdrop ${text(count)} of the token ${text(mint)}`,
  'POST /v2/airdrops/{id}/claims': ({ id }) => `Claim from the airdrop ${text(id)}`,
  'POST /v2/airdrops/{id}/vault-withdrawals': ({ id }) => `Withdraw what is left of the airdrop ${text(id)}`,
  'POST /v2/tokens': ({ name, symbol }) => `Create the token ${text(name)} (${text(symbol)})`,
  'DELETE /v2/tokens/{mint}/authorities/{type}': ({ mint, type }) =>
    `Revoke the ${text(type)} authority of the token ${text(mint)}`,
  'PUT /v2/tokens/{mint}/authorities/{type}': ({ mint, type, new_authority: to }) =>
    to === null
      ? `Give up the authority ${text(type)} of the token ${text(mint)} for good`
      : `Give the ${text(type)} authority of the token ${text(mint)} to ${text(to)}`,
  'PATCH /v2/tokens/{mint}': ({ mint, immutable }) =>
    `Change the metadata of the token ${text(mint)}${immutable === true ? ' for the last time' : ''}`,
  'POST /v2/tokens/{mint}/withheld-withdrawals': ({ mint, recipient }) =>
    `Withdraw the transfer fees of the token ${text(mint)}${recipient === undefined ? '' : ` to ${text(recipient)}`}`,
  'POST /v2/tokens/{mint}/harvests': ({ mint }) => `Move withheld transfer fees of ${text(mint)} into the mint`,
  'PATCH /v2/tokens/{mint}/extensions': ({ mint }) => `Change the settings of extensions of the token ${text(mint)}`,
  'POST /v2/tokens/{mint}/freezes': ({ mint, wallet, wallets }) =>
    `Freeze the token ${text(mint)} of ${walletsText(wallet, wallets)}`,
  'DELETE /v2/tokens/{mint}/freezes': ({ mint, wallets }) =>
    `Thaw the token ${text(mint)} of ${walletsText(undefined, wallets)}`,
  'DELETE /v2/tokens/{mint}/freezes/{wallet}': ({ mint, wallet }) => `Thaw the token ${text(mint)} of ${text(wallet)}`,
  'PUT /v2/tokens/{mint}/pause': ({ mint }) => `Pause the token ${text(mint)}`,
  'DELETE /v2/tokens/{mint}/pause': ({ mint }) => `Resume the token ${text(mint)}`,
  'DELETE /v2/tokens/{mint}': ({ mint }) => `Close the mint ${text(mint)} for good`,
  'POST /v2/nfts': ({ name }) => `Mint the NFT ${text(name)}`,
  'DELETE /v2/nfts/{asset}': ({ asset }) => `Burn the NFT ${text(asset)}`,
  'POST /v2/collections': ({ name }) => `Create the collection ${text(name)}`,
  'POST /v2/stakes': ({ asset }) => `Stake the NFT ${text(asset)}`,
  'DELETE /v2/stakes/{asset}': ({ asset }) => `Release the NFT ${text(asset)}`,
  'DELETE /v2/gold-locks/{user}': () => 'Unlock gold',
  'POST /v2/locks/{address}/claims': ({ address }) => `Claim from the lock ${text(address)}`,
  'DELETE /v2/locks/{address}': ({ address }) => `Cancel the lock ${text(address)}`,
  'PUT /v2/locks/{address}/recipient': ({ address, new_recipient: to }) =>
    `Make ${text(to)} the recipient of the lock ${text(address)}`,
  'PUT /v2/locks/{address}/title': ({ address, title }) => `Give the lock ${text(address)} the title ${text(title)}`,
  'POST /v2/locks/{address}/closings': ({ address }) => `Close the lock ${text(address)}`,
  'POST /v2/sol-transfers': ({ lamports, recipient }) =>
    `Send ${lamports === 'all' ? 'all SOL' : solText(BigInt(text(lamports)))} to ${text(recipient)}`,
  'POST /v2/token-transfers': ({ mint, recipients }) =>
    `Send the token ${text(mint)} to ${Array.isArray(recipients) ? recipients.length : 1} wallets`,
  'POST /v2/rent-reclaims': () => 'Return excess rent',
}

/** Acts whose amount is of the token that the body, the path or the setting names. */
const COUNTED: Record<string, (input: Fields, units: Units) => string> = {
  'POST /v2/tokens/{mint}/mints': ({ mint, amount, recipients }, units) =>
    `Mint ${countedText(amount, recipients, units)} of the token ${text(mint)}`,
  'POST /v2/tokens/{mint}/burns': ({ mint, amount, holders }, units) =>
    `Burn ${countedText(amount, holders, units)} of the token ${text(mint)}`,
  'POST /v2/gold-locks': ({ amount }, units) => `Lock ${units(BigInt(text(amount)))} of gold`,
  'POST /v2/locks': ({ mint, amount, recipient }, units) =>
    `Lock ${units(BigInt(text(amount)))} of the token ${text(mint)} for ${text(recipient)}`,
}

/**
 * `summary` is what the route says about itself, for one without words of its own. Amounts are in whole tokens, or in raw
 * units if the token cannot be read.
 */
export async function actWords(
  { chain, config }: Pick<Context, 'chain' | 'config'>,
  { operation, summary, input }: { operation: string; summary: string; input: Fields },
): Promise<string> {
  const counted = COUNTED[operation]
  const mint = input.mint ?? config.values['gold.mint']
  const decimals = counted === undefined ? null : await decimalsOrNull(chain, mint)
  const sentence = counted?.(input, tokensText(decimals)) ?? WORDS[operation]?.(input) ?? summary
  return sentence.length > MOST_WORDS ? `${sentence.slice(0, MOST_WORDS - 1)}…` : sentence
}

async function decimalsOrNull(chain: Context['chain'], mint: unknown): Promise<number | null> {
  if (typeof mint !== 'string') return null
  try {
    return (await readTokens(chain, [mint]))[0]?.decimals ?? null
  } catch {
    return null
  }
}

/** What a transaction does that no route built: its beginning as it is given, and what changes control, as far as it fits. */
export function transactionWords(
  beginning: string,
  { message, places }: { message: DecodedMessage; places?: PlaceAddresses },
  names: AddressNames,
): string {
  const sentences = controlSentences(describeMessage(message, places), names).map(printable)
  let words = beginning
  for (const [i, sentence] of sentences.entries()) {
    const next = `${words}${i === 0 ? ': ' : '; '}${sentence}`
    if (next.length > MOST_WHAT)
      return `${words.slice(0, MOST_WHAT - 60)}${i === 0 ? ': ' : '; '}${sentences.length - i} more changes of control, see its plan`
    words = next
  }
  return words
}
