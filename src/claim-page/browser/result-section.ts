/** Shows what a wallet receives, the claimable part, and the claim itself. */
import { vestedAt } from '../../solana/unlock-schedule.ts'
import type { ClaimSession } from './claim-session.ts'
import type { RowState } from './claim-state.ts'
import { button, byId, factsOf, fill, make, outsideLink } from './elements.ts'
import type { TextKey } from './page-fault.ts'
import type { PageSession } from './page-session.ts'
import { chosenExplorer, explorersOf, explorerUrl } from './page-settings.ts'
import type { VisitorTexts } from './texts.ts'
import type { FoundRow } from './wallet-lookup.ts'

/** Faults that show that page and chain disagree, so that the page's amounts cannot be trusted. */
const FALSE_PAGE: ReadonlySet<TextKey> = new Set<TextKey>(['otherRoot', 'otherMint', 'foreignDistributor'])

export function drawResult(session: ClaimSession): void {
  const section = byId('result')
  const { rows, texts, address } = session
  if (address === null) {
    fill(section, [])
    return
  }
  const heading = (text: string) => make('h2', { text, attributes: { id: 'result-heading', tabindex: '-1' } })
  const hadFocus = document.activeElement?.id
  if (rows === null) {
    const isLooking = session.fault === null
    fill(section, [heading(texts.text(isLooking ? 'looking' : 'lookFailed')), ...(isLooking ? [] : [retry(session)])])
  } else if (rows.length === 0) {
    fill(section, [heading(texts.text('notListed')), make('p', { text: texts.text('notListedHint') })])
  } else {
    const isFalse = session.state?.rows.some(({ fault }) => fault !== null && FALSE_PAGE.has(fault)) ?? false
    fill(section, [
      heading(texts.text(isFalse ? 'notBelieved' : 'youReceive')),
      ...(isFalse ? [] : groupsOf(rows).map((group) => entitlement(session, group))),
      ...rowFaults(session),
      ...confirmations(session),
      ...action(session),
    ])
  }
  if (hadFocus === 'result-heading' || hadFocus === 'claim') {
    const again = document.getElementById(hadFocus) ?? document.getElementById('result-heading')
    again?.focus({ preventScroll: true })
  }
}

/** Rows by token. */
function groupsOf(rows: readonly FoundRow[]): FoundRow[][] {
  const groups = new Map<string, FoundRow[]>()
  for (const row of rows) groups.set(row.airdrop.mint, [...(groups.get(row.airdrop.mint) ?? []), row])
  return [...groups.values()]
}

const sumOf = <T>(items: readonly T[], amount: (item: T) => bigint) =>
  items.reduce((sum, item) => sum + amount(item), 0n)

function entitlement(session: ClaimSession, rows: readonly FoundRow[]): HTMLElement {
  const { texts, state } = session
  const { decimals = 0, symbol = '' } = rows[0]?.airdrop ?? {}
  const tokens = (amount: bigint) => `${texts.tokens(amount, decimals)} ${symbol}`
  const states = state?.rows.filter(({ row }) => rows.includes(row)) ?? []
  const total = sumOf(rows, ({ amount, locked }) => amount + locked)
  const facts: [string, string][] = []
  if (state !== null) {
    const paid = sumOf(states, (each) => each.paid)
    const vesting = sumOf(states, (each) => each.row.locked - vestedAt(each, each.row.locked, state.now))
    const claimable = sumOf(states, (each) => each.claimable)
    if (claimable > 0n || paid === 0n) facts.push([texts.text('claimableNow'), tokens(claimable)])
    if (paid > 0n) facts.push([texts.text('alreadyPaid'), tokens(paid)])
    if (vesting > 0n) facts.push([texts.text('stillVesting'), tokens(vesting)])
  }
  const amount = make('p', { class: 'amount' }, [
    make('span', { text: texts.tokens(total, decimals) }),
    ' ',
    make('span', { class: 'symbol', text: symbol }),
  ])
  return make('div', { class: 'entitlement' }, [
    amount,
    facts.length > 0 && factsOf(facts),
    ...notes(states, texts, state?.now ?? 0n),
  ])
}

/** Vesting period and claim deadline, each shown once. */
function notes(states: readonly RowState[], texts: VisitorTexts, now: bigint): HTMLElement[] {
  const words = new Set<string>()
  for (const { row, fault, paid, startsAt, endsAt, clawbackAt } of states) {
    if (paid >= row.amount + row.locked || fault === 'clawedBack' || clawbackAt === 0n) continue
    if (row.locked > 0n) words.add(texts.text('vestsBetween', { start: texts.date(startsAt), end: texts.date(endsAt) }))
    words.add(texts.text(now < clawbackAt ? 'claimUntil' : 'claimUntilPast', { date: texts.date(clawbackAt) }))
  }
  return [...words].map((text) => make('p', { class: 'hint', text }))
}

function rowFaults({ state, subject, texts }: ClaimSession): HTMLElement[] {
  const seen = new Map<string, HTMLElement>()
  for (const { fault, row } of state?.rows ?? []) {
    if (fault === null) continue
    const number = subject.airdrops.indexOf(row.airdrop) + 1
    const { name, symbol } = row.airdrop
    const part = texts.text('inAirdrop', {
      name: name || symbol,
      number: String(number),
      count: String(subject.airdrops.length),
    })
    const words = texts.text(fault)
    const text = subject.airdrops.length > 1 ? `${part}: ${words}` : words
    seen.set(text, make('p', { class: 'notice bad', text }))
  }
  return [...seen.values()]
}

/** What was confirmed while the page is open, with a link to each transaction. */
export function confirmations(session: PageSession): HTMLElement[] {
  const { texts, settings, subject, node } = session
  const explorer = chosenExplorer(explorersOf(settings, subject, node.urls[0] ?? ''))
  return session.confirmed.map(({ signature, message }) => {
    const words = texts.text(message.key, message.values)
    const link = explorer
      ? outsideLink(texts.text('viewOn', { explorer: explorer.name }), explorerUrl(explorer, signature))
      : null
    return make('div', { class: 'notice good', attributes: { 'data-signature': signature } }, [
      make('strong', { text: texts.text('confirmed') }),
      make('p', { text: words.replace(/\s+/g, ' ') }),
      link,
    ])
  })
}

function action(session: ClaimSession): (HTMLElement | false)[] {
  const { state, plan, texts, wallet, isBusy } = session
  if (state === null) return session.fault ? [retry(session)] : []
  const claimable = sumOf(state.rows, (each) => each.claimable)
  if (claimable === 0n) {
    if (state.rows.some(({ fault }) => fault !== null)) return [retry(session)]
    const isWhole = state.rows.every(({ row, paid }) => paid >= row.amount + row.locked)
    return [make('p', { class: 'notice', text: texts.text(isWhole ? 'allClaimed' : 'waitVesting') })]
  }
  if (wallet === null) return [make('p', { class: 'notice', text: texts.text('connectToClaim') })]
  const [first] = groupsOf(state.rows.filter((each) => each.claimable > 0n).map(({ row }) => row))
  const { decimals = 0, symbol = '' } = first?.[0]?.airdrop ?? {}
  const amount = texts.tokens(
    sumOf(
      state.rows.filter(({ row }) => first?.includes(row)),
      (each) => each.claimable,
    ),
    decimals,
  )
  const claim = button(
    texts.text('claim', { amount, symbol }),
    () => !session.isBusy && void session.claim(),
    'primary',
  )
  claim.id = 'claim'
  claim.setAttribute('aria-disabled', String(isBusy))
  const costs = session.isSponsored ? texts.text('sponsored') : texts.text('costs', { sol: session.solCosts() })
  return [
    claim,
    make('p', { class: 'hint', text: costs }),
    plan.length > 1 &&
      make('p', { class: 'hint', text: texts.text('claimSteps', { count: texts.number(plan.length) }) }),
    session.fault !== null && retry(session),
  ]
}

export const retry = (session: PageSession): HTMLElement => {
  const again = button(session.texts.text('refresh'), () => void session.refresh())
  again.disabled = session.isBusy
  return again
}
