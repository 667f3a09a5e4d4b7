/** Shows what is sold, on which terms, how far it is, and who holds the creator's key. */
import { priceText, roundPrice } from '../../../solana/raise-amounts.ts'
import { type RaiseState as Phase, raiseStateAt } from '../../../solana/raises.ts'
import { byId, factsOf, fill, make, shortAddress } from '../elements.ts'
import type { TextKey } from '../page-fault.ts'
import { retry } from '../result-section.ts'
import type { VisitorTexts } from '../texts.ts'
import type { RaiseSession } from './raise-session.ts'
import type { RaiseState } from './raise-state.ts'

const PHASES: Readonly<Record<Phase, TextKey>> = {
  not_started: 'stateNotStarted',
  ongoing: 'stateOngoing',
  completed: 'stateCompleted',
  failed: 'stateFailed',
}
const MODES: Readonly<Record<RaiseState['raise']['mode'], TextKey>> = {
  fixed_price: 'modeFixedPrice',
  pro_rata: 'modeProRata',
  first_come: 'modeFirstCome',
}

/** Amounts of both tokens, as text with symbol. */
export function amountsIn({ texts }: RaiseSession, { token, quote }: RaiseState) {
  return {
    tokens: (raw: bigint) => `${texts.tokens(raw, token.decimals)} ${token.symbol}`,
    quotes: (raw: bigint) => texts.tokens(raw, quote.decimals),
  }
}

export function drawSale(session: RaiseSession): void {
  const { state, texts } = session
  if (state === null) {
    fill(byId('sale'), session.fault ? [retry(session)] : [])
    return
  }
  const { raise, now, quote } = state
  const { quotes } = amountsIn(session, state)
  const phase = raiseStateAt(raise, now)
  const values = {
    raised: quotes(raise.deposited),
    max: quotes(raise.maximum),
    min: quotes(raise.minimum),
    quote: quote.symbol,
    date: texts.date(raise.endsAt),
  }
  const outcome = phase === 'failed' ? 'hasFailed' : phase === 'completed' ? null : 'ifFails'
  const date = texts.date(phase === 'not_started' ? raise.startsAt : raise.endsAt)
  fill(byId('sale'), [
    make('h2', { text: texts.text(PHASES[phase], { date }), attributes: { id: 'sale-heading' } }),
    bar(state),
    make('p', { text: texts.text('raisedOf', values) }),
    factsOf(facts(session, state)),
    make('p', { text: texts.text(MODES[raise.mode]) }),
    raise.allowlist === 'none' ? null : make('p', { text: texts.text('raiseAllowlist') }),
    outcome && make('p', { class: phase === 'failed' ? 'notice bad' : '', text: texts.text(outcome, values) }),
    make('p', { class: 'notice' }, [
      `${texts.text('trustCreator')} ${keyWords(texts, state)}`,
      make('br'),
      `${texts.text('creatorAddress')}: `,
      shortAddress(raise.creator),
    ]),
    retry(session),
  ])
}

/** What has come in, and where the minimum is; the text beside it says the same. */
function bar({ raise: { deposited, maximum, minimum } }: RaiseState): HTMLElement {
  const share = (amount: bigint) => `${Math.min(100, Number((amount * 1_000n) / maximum) / 10)}%`
  const [filled, mark] = [make('div', { class: 'filled' }), make('div', { class: 'mark' })]
  filled.style.width = share(deposited)
  mark.style.insetInlineStart = share(minimum)
  return make('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, [filled, mark])
}

/** Decimal text of the chain's arithmetic in the number format of the language. */
function localized(texts: VisitorTexts, decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return texts.tokens(BigInt(whole + fraction), fraction.length)
}

const percent = (texts: VisitorTexts, bps: number) => texts.tokens(BigInt(bps), 2)

function facts(session: RaiseSession, state: RaiseState): [string, string | null][] {
  const { texts } = session
  const { raise, token, quote } = state
  const { tokens, quotes } = amountsIn(session, state)
  const decimals = { token: token.decimals, quote: quote.decimals }
  const names = { symbol: token.symbol, quote: quote.symbol }
  const priceIn = (round: number) => {
    const price = roundPrice(raise, round, decimals)
    return price === null
      ? texts.text('priceOpen')
      : texts.text('priceOf', { ...names, price: localized(texts, price) })
  }
  const isFixed = raise.price !== null
  return [
    [texts.text('factPrice'), isFixed || raise.rounds.length === 1 ? priceIn(0) : null],
    [texts.text('factSupply'), tokens(raise.supply)],
    [texts.text('factStart'), texts.date(raise.startsAt)],
    [texts.text('factEnd'), texts.date(raise.endsAt)],
    [texts.text('factBuyers'), texts.number(Number(raise.escrows))],
    [texts.text('factRelease'), releaseWords(texts, state)],
    ...feeRow(texts, state),
    [texts.text('factUnsold'), texts.text(raise.unsold === 'burn' ? 'unsoldBurn' : 'unsoldReturn')],
    ...raise.rounds.map(({ supply, buyerMin, buyerMax, feeBps }, round): [string, string] => {
      const limits = { least: quotes(buyerMin), most: quotes(buyerMax), fee: percent(texts, feeBps) }
      const terms = raise.allowlist === 'none' ? 'roundTerms' : 'roundTermsListed'
      const words = texts.text(terms, { ...names, ...limits, supply: texts.tokens(supply, token.decimals) })
      const price = isFixed || raise.rounds.length === 1 ? '' : ` · ${priceIn(round)}`
      return [texts.text('factRound', { round: String(round + 1) }), words + price]
    }),
  ]
}

function feeRow(texts: VisitorTexts, { token }: RaiseState): [string, string][] {
  const { fee, symbol, decimals } = token
  if (fee === null || fee.basisPoints === 0) return []
  const values = { share: percent(texts, fee.basisPoints), most: texts.tokens(fee.maximumFee, decimals), symbol }
  return [[texts.text('factFee'), texts.text('feeWords', values)]]
}

function releaseWords(texts: VisitorTexts, { raise }: RaiseState): string {
  const { releaseBps, releaseAt, vestingStartsAt, vestingEndsAt } = raise
  const isWhole = releaseBps === 10_000 || (releaseBps === 0 && vestingStartsAt === vestingEndsAt)
  if (isWhole) return texts.text('releaseAll', { date: texts.date(releaseBps === 0 ? vestingStartsAt : releaseAt) })
  return texts.text(vestingStartsAt === vestingEndsAt ? 'releasePart' : 'releaseVesting', {
    share: percent(texts, releaseBps),
    date: texts.date(releaseAt),
    start: texts.date(vestingStartsAt),
    end: texts.date(vestingEndsAt),
  })
}

function keyWords(texts: VisitorTexts, { key }: RaiseState): string {
  if (key.kind !== 'vault') return texts.text(key.kind === 'wallet' ? 'keyWallet' : 'keyProgram')
  const hours = localized(texts, priceText(BigInt(key.timeLock), 3_600n, { token: 0, quote: 0 }))
  const votes = { threshold: String(key.threshold), members: String(key.voters), hours }
  const words = texts.text(key.timeLock === 0 ? 'keyVaultNow' : 'keyVault', votes)
  return key.authority === null ? words : `${words} ${texts.text('keyAuthority', { authority: key.authority })}`
}
