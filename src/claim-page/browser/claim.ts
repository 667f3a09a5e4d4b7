/** The claim page: reads the files of its site, and shows the state of its session. */
import { drawChecks } from './checks-section.ts'
import { byId, fill, make } from './elements.ts'
import { drawFooter } from './footer-section.ts'
import { foreignWords, PageFault, type TextKey } from './page-fault.ts'
import { PageSession } from './page-session.ts'
import { applyColours, applyTheme } from './page-settings.ts'
import { remember, remembered } from './pending-claims.ts'
import { drawResult } from './result-section.ts'
import { type ClaimSubject, readSettings, readSubject, type SiteSettings } from './site-files.ts'
import { chosenLanguage, loadTexts, visitorTexts } from './texts.ts'
import { drawWallet, lookTyped } from './wallet-section.ts'
import { type PageWallet, watchWallets } from './wallet-standard.ts'

let wallets: readonly PageWallet[] = []

function draw(session: PageSession): void {
  const { texts, message, fault } = session
  drawWallet(session, wallets)
  drawResult(session)
  drawChecks(session)
  setText(byId('progress'), message ? texts.text(message.key, message.values) : '')
  byId('progress').classList.toggle('busy', message !== null)
  const words = fault ? texts.text(fault.key, fault.values) : ''
  if (byId('fault').textContent !== words) {
    fill(byId('fault'), words === '' ? [] : [make('p', { class: 'notice bad', text: words })])
    byId('fault').hidden = false
  }
  drawFooter(session, (code) => void changeLanguage(session, code))
}

/** Announces each text once, because screen readers read every change. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

function drawFrame({ settings, subject, texts }: PageSession): void {
  const [airdrop] = subject.airdrops
  const symbol = airdrop?.symbol || airdrop?.name || ''
  const title = texts.text('title', { symbol })
  document.documentElement.lang = texts.language
  document.title = settings.name === '' ? title : `${title} · ${settings.name}`
  setText(byId('title'), title)
  setText(byId('intro'), texts.text('intro', { symbol }))
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
    setText(element, texts.text(element.dataset.text as TextKey))
  }
  const logo = settings.logo === null ? null : make('img', { attributes: { src: settings.logo, alt: '' } })
  fill(byId('brand'), [logo, settings.name === '' ? null : make('span', { text: settings.name })])
}

async function changeLanguage(session: PageSession, code: string): Promise<void> {
  remember('language', code)
  session.texts = await loadTexts(code, session.settings)
  drawFrame(session)
  draw(session)
}

async function begin(subject: ClaimSubject, settings: SiteSettings): Promise<void> {
  applyColours(settings)
  const query = new URLSearchParams(location.search)
  const wanted = [query.get('lang'), remembered('language'), ...navigator.languages]
  const session = new PageSession(subject, settings, await loadTexts(chosenLanguage(settings, wanted), settings), draw)
  drawFrame(session)
  watchWallets(subject.chain, (found) => {
    wallets = found
    draw(session)
  })
  performance.mark('claim-page-ready')
  const address = query.get('wallet')
  if (address !== null) await lookTyped(session, foreignWords(address, 64))
}

async function start(): Promise<void> {
  applyTheme()
  try {
    const [subject, settings] = await Promise.all([readSubject(), readSettings()])
    await begin(subject, settings)
  } catch (error) {
    const { key, values } =
      error instanceof PageFault
        ? error
        : new PageFault('unexpected', { words: foreignWords((error as Error)?.message) })
    fill(byId('fault'), [make('p', { class: 'notice bad', text: visitorTexts('en').text(key, values) })])
  }
}

void start()
