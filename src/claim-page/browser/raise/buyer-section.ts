/** Shows what a wallet has in the raise, round by round, and what it can do now. */
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PRESALE } from '../../../solana/programs/presale.ts'
import { type DepositBound, paymentOf, tokensOf } from '../../../solana/raise-amounts.ts'
import { raiseStateAt } from '../../../solana/raises.ts'
import { button, byId, factsOf, fill, make } from '../elements.ts'
import type { TextKey } from '../page-fault.ts'
import { confirmations, retry } from '../result-section.ts'
import { amountsOf, arriving, type PartAmounts, unwraps } from './raise-plan.ts'
import type { RaiseSession } from './raise-session.ts'
import { type RaisePart, type RaiseState, unusual } from './raise-state.ts'
import { amountsIn } from './sale-section.ts'

/** Typed amounts stay while the page is drawn anew. */
const typed = new Map<string, string>()

export function drawBuyer(session: RaiseSession): void {
  const section = byId('result')
  const { state, texts, address } = session
  const hadFocus = document.activeElement?.id
  const heading = (key: TextKey) =>
    make('h2', { text: texts.text(key), attributes: { id: 'result-heading', tabindex: '-1' } })
  if (address === null) {
    fill(section, [])
  } else if (!state?.wallet) {
    fill(section, [heading(session.fault ? 'lookFailed' : 'readingChain'), session.fault ? retry(session) : null])
  } else {
    const fault = unusual(state)
    fill(section, [
      heading('youHave'),
      ...state.wallet.parts.map((part) => drawPart(session, state, part)),
      fault && make('p', { class: 'notice bad', text: texts.text(fault) }),
      session.wallet === null ? make('p', { class: 'notice', text: texts.text('raiseConnect') }) : null,
      ...confirmations(session),
    ])
  }
  const again = hadFocus && section.contains(document.getElementById(hadFocus)) ? byId(hadFocus) : null
  if (again) again.focus({ preventScroll: true })
}

interface Shown {
  session: RaiseSession
  state: RaiseState
  part: RaisePart
  can: PartAmounts
}

function drawPart(session: RaiseSession, state: RaiseState, part: RaisePart): HTMLElement {
  const shown = { session, state, part, can: amountsOf(state, part) }
  const { texts } = session
  const isOne = state.raise.rounds.length === 1
  const id = `round-${part.round}`
  const name = make('h3', { text: texts.text('factRound', { round: String(part.round + 1) }), attributes: { id } })
  // The fields and buttons of all rounds have the same names.
  const group: Record<string, string> = isOne ? {} : { role: 'group', 'aria-labelledby': id }
  const isOutside = state.raise.allowlist === 'merkle' && part.listed === null && part.escrow === null
  const acts = session.wallet === null || unusual(state) !== null ? [] : actsOf(shown)
  return make('div', { class: 'entitlement', attributes: group }, [
    isOne ? null : name,
    ...(isOutside
      ? [make('p', { text: texts.text(part.isWaiting ? 'notOpenYet' : 'notInRound') })]
      : [ownFacts(shown), ...acts]),
  ])
}

function ownFacts({ session, state, part, can }: Shown): HTMLElement {
  const { texts } = session
  const { tokens, quotes } = amountsIn(session, state)
  const { escrow, listed, round } = part
  const cap = escrow?.cap ?? listed?.cap ?? state.raise.rounds[round]?.buyerMax ?? 0n
  const quote = state.quote.symbol
  const phase = raiseStateAt(state.raise, state.now)
  const isOpen = phase === 'not_started' || phase === 'ongoing'
  const { next, total } = can.claim
  const isReleasing = next !== null && next.from <= state.now
  const rows: [TextKey, string][] = [['factDeposited', `${quotes(escrow?.deposited ?? 0n)} ${quote}`]]
  if (isOpen) rows.push(['factCap', `${quotes(cap)} ${quote}`])
  if (escrow !== null && phase !== 'failed') {
    rows.push([isOpen ? 'factBought' : 'factGot', tokens(total)])
    if (!isOpen) rows.push(['factClaimed', tokens(escrow.claimed)])
    if (next) rows.push(isReleasing ? ['factAll', texts.date(next.until)] : ['factNext', texts.date(next.from)])
  }
  return factsOf(rows.map(([key, value]) => [texts.text(key), value]))
}

const BOUNDS: Readonly<Record<DepositBound, TextKey | null>> = {
  not_started: 'notStartedYet',
  ended: null,
  buyer_maximum: 'buyerMaximum',
  raise_full: 'soldOut',
  gap_below_minimum: 'gapLeft',
}

function actsOf(shown: Shown): (HTMLElement | null | false)[] {
  const { session, state, can } = shown
  const { texts } = session
  const { quote, token } = state
  const { quotes } = amountsIn(session, state)
  const bound = can.deposit.most === 0n ? BOUNDS[can.deposit.bound] : null
  const wrapped = quote.mint === WRAPPED_SOL && !unwraps(state)
  const claims = { amount: texts.tokens(arriving(state, can.claim.now), token.decimals), symbol: token.symbol }
  const takes = { amount: quotes(can.refund), quote: quote.symbol }
  return [
    can.deposit.most > 0n && depositForm(shown),
    bound && make('p', { class: 'hint', text: texts.text(bound) }),
    can.withdraw.all > 0n && withdrawForm(shown),
    can.claim.now > 0n && actButton(shown, 'claim', texts.text('claim', claims)),
    can.claim.now > 0n && token.fee && make('p', { class: 'hint', text: texts.text('claimLess', claims) }),
    can.refund > 0n && actButton(shown, 'refund', texts.text('takeBack', takes)),
    wrapped &&
      (can.refund > 0n || can.withdraw.all > 0n) &&
      make('p', { class: 'hint', text: texts.text('comesWrapped') }),
  ]
}

function actButton({ session, part }: Shown, act: 'claim' | 'refund', text: string): HTMLElement {
  const made = button(text, () => !session.isBusy && void session.act(act, part.round), 'primary')
  made.id = `${act}-${part.round}`
  made.setAttribute('aria-disabled', String(session.isBusy))
  return made
}

function depositForm(shown: Shown): HTMLElement {
  const { session, state, part, can } = shown
  const { texts } = session
  const { quotes } = amountsIn(session, state)
  const quote = state.quote.symbol
  const range = { least: quotes(can.deposit.least), most: quotes(can.deposit.most), quote }
  const { own } = can
  const words = (amount: bigint): string[] => {
    const { moved, fee, total } = paymentOf(state.raise, part.round, amount)
    const { symbol, decimals } = state.token
    const bought = tokensOf(state.raise, own, moved) - tokensOf(state.raise, own)
    const effect = { total: quotes(total), fee: quotes(fee), quote, bought: texts.tokens(bought, decimals), symbol }
    const back = { amount: quotes(moved), quote }
    const arrives = arriving(state, bought)
    return [
      texts.text('depositEffect', effect),
      ...(arrives < bought ? [texts.text('claimLess', { amount: texts.tokens(arrives, decimals), symbol })] : []),
      texts.text(state.raise.withdrawable ? 'depositReturns' : 'depositStays', back),
      texts.text('raiseCosts', { sol: session.costs(part, state.rentOf(PRESALE.sizeOf('escrow'))) }),
    ]
  }
  return amountForm(shown, 'deposit', {
    range: texts.text('depositRange', range),
    isAllowed: (amount) => {
      const { moved } = paymentOf(state.raise, part.round, amount)
      return moved >= can.deposit.least && amount <= can.deposit.most
    },
    words,
  })
}

function withdrawForm(shown: Shown): HTMLElement {
  const { session, state, can } = shown
  const { texts } = session
  const { quotes } = amountsIn(session, state)
  const quote = state.quote.symbol
  const { all, mostOfPart } = can.withdraw
  return amountForm(shown, 'withdraw', {
    range: texts.text('withdrawRange', { all: quotes(all), part: quotes(mostOfPart), quote }),
    isAllowed: (amount) => amount > 0n && (amount === all || amount <= mostOfPart),
    words: (amount) => [texts.text('withdrawEffect', { amount: quotes(amount), quote })],
  })
}

interface AmountForm {
  /** What can be entered. */
  range: string
  isAllowed(amount: bigint): boolean
  /** What the amount does. */
  words(amount: bigint): string[]
}

function amountForm({ session, state, part }: Shown, act: 'deposit' | 'withdraw', form: AmountForm): HTMLElement {
  const { texts } = session
  const id = `${act}-${part.round}`
  const input = make('input', {
    attributes: { id, type: 'text', inputmode: 'decimal', autocomplete: 'off', 'aria-describedby': `${id}-effect` },
  })
  input.value = typed.get(id) ?? ''
  const effect = make('div', { class: 'hint', attributes: { id: `${id}-effect` } })
  const amountNow = (): bigint | null => {
    const amount = texts.amountOf(input.value, state.quote.decimals)
    return amount !== null && form.isAllowed(amount) ? amount : null
  }
  const show = () => {
    const amount = amountNow()
    const words = amount === null ? [form.range] : form.words(amount)
    effect.replaceChildren(...words.map((text) => make('p', { text })))
    input.setAttribute('aria-invalid', String(amount === null && input.value !== ''))
  }
  input.addEventListener('input', () => {
    typed.set(id, input.value)
    show()
  })
  const submit = make('button', { text: texts.text(`${act}Button`), class: 'primary', attributes: { type: 'submit' } })
  submit.setAttribute('aria-disabled', String(session.isBusy))
  const made = make('form', { class: 'look' }, [
    make('label', { text: texts.text(`${act}Label`, { quote: state.quote.symbol }), attributes: { for: id } }),
    input,
    effect,
    submit,
  ])
  made.addEventListener('submit', (event) => {
    event.preventDefault()
    const amount = amountNow()
    if (session.isBusy) return
    if (amount === null) return input.focus()
    typed.delete(id)
    void session.act(act, part.round, amount)
  })
  show()
  return made
}
