/** The frame that pages of wallets share: languages, title, progress, faults, and the start. */
import { byId, fill, make } from './elements.ts'
import { drawFooter } from './footer-section.ts'
import { foreignWords, PageFault, type TextKey, type TextValues } from './page-fault.ts'
import type { PageSession } from './page-session.ts'
import { applyColours, applyTheme } from './page-settings.ts'
import { remember, remembered } from './pending-claims.ts'
import { readSettings, type SiteSettings } from './site-files.ts'
import { chosenLanguage, loadTexts, type PageTexts, type VisitorTexts, visitorTexts } from './texts.ts'
import { drawWallet, lookTyped } from './wallet-section.ts'
import { type PageWallet, watchWallets } from './wallet-standard.ts'

/** What a page has of its own. */
interface Page<S extends PageSession> {
  texts: PageTexts
  open(settings: SiteSettings, texts: VisitorTexts, draw: () => void): S
  drawSections(session: S): void
  /** Title and introduction, and the values of both. */
  head(session: S): { title: TextKey; intro: TextKey; values: TextValues }
}

let wallets: readonly PageWallet[] = []

/** Announces each text once, because screen readers read every change. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

function draw<S extends PageSession>(page: Page<S>, session: S): void {
  const { texts, message, fault } = session
  drawHead(page, session)
  drawWallet(session, wallets)
  page.drawSections(session)
  setText(byId('progress'), message ? texts.text(message.key, message.values) : '')
  byId('progress').classList.toggle('busy', message !== null)
  const words = fault ? texts.text(fault.key, fault.values) : ''
  if (byId('fault').textContent !== words) {
    fill(byId('fault'), words === '' ? [] : [make('p', { class: 'notice bad', text: words })])
    byId('fault').hidden = false
  }
  drawFooter(session, page.texts, (code) => void changeLanguage(page, session, code))
}

function drawHead<S extends PageSession>(page: Page<S>, session: S): void {
  const { settings, texts } = session
  const { title, intro, values } = page.head(session)
  const words = texts.text(title, values)
  document.title = settings.name === '' ? words : `${words} · ${settings.name}`
  setText(byId('title'), words)
  setText(byId('intro'), texts.text(intro, values))
}

function drawFrame({ settings, texts }: PageSession): void {
  document.documentElement.lang = texts.language
  for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
    setText(element, texts.text(element.dataset.text as TextKey))
  }
  const logo = settings.logo === null ? null : make('img', { attributes: { src: settings.logo, alt: '' } })
  fill(byId('brand'), [logo, settings.name === '' ? null : make('span', { text: settings.name })])
}

async function changeLanguage<S extends PageSession>(page: Page<S>, session: S, code: string): Promise<void> {
  remember('language', code)
  session.texts = await loadTexts(code, session.settings, page.texts)
  drawFrame(session)
  draw(page, session)
}

async function begin<S extends PageSession>(page: Page<S>, settings: SiteSettings): Promise<S> {
  applyColours(settings)
  const query = new URLSearchParams(location.search)
  const wanted = [query.get('lang'), remembered('language'), ...navigator.languages]
  const texts = await loadTexts(chosenLanguage(settings, wanted, page.texts), settings, page.texts)
  const session: S = page.open(settings, texts, () => draw(page, session))
  drawFrame(session)
  watchWallets(session.subject.chain, (found) => {
    wallets = found
    draw(page, session)
  })
  performance.mark('claim-page-ready')
  const address = query.get('wallet')
  if (address !== null) await lookTyped(session, foreignWords(address, 64))
  return session
}

/** Starts a page; a fault of its files is shown in place of it. */
export async function startPage<S extends PageSession>(prepare: () => Promise<Page<S>>): Promise<S | null> {
  applyTheme()
  try {
    const [page, settings] = await Promise.all([prepare(), readSettings()])
    return await begin(page, settings)
  } catch (error) {
    const { key, values } =
      error instanceof PageFault
        ? error
        : new PageFault('unexpected', { words: foreignWords((error as Error)?.message) })
    fill(byId('fault'), [make('p', { class: 'notice bad', text: visitorTexts('en').text(key, values) })])
    return null
  }
}
