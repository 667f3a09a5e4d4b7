/** What `page` and `passport` commands share: the built files of a page, and the operator's settings beside them. */
import { basename, dirname, resolve } from 'node:path'
import { readPageFiles, textsIn } from '../../src/claim-page/site/page-files.ts'
import { type PageHead, withHead } from '../../src/claim-page/site/page-head.ts'
import type { PageSettings } from '../../src/claim-page/site/site-settings.ts'
import { tokenWords } from '../../src/claim-page/site/site-subject.ts'
import { listOf, required, text, toggle } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readBytes } from './files.ts'
import { failure, nullIfNotFound, usage } from './problem.ts'
import type { PutFile } from './whole-folder.ts'

/** Largest logo in bytes: every visitor loads it. */
const MOST_LOGO_BYTES = 512 * 1024

/** The flags of every command that writes a page. */
export const pageFlags = {
  out: required(text('Folder to write', { placeholder: 'DIR' })),
  rpc: listOf('URLs of the nodes that the page uses, in order; every visitor can see them', { placeholder: 'URL,URL' }),
  replace: toggle('Replace the page if it exists'),
}

export const configFlag = text('Settings of the page, a JSON file', { placeholder: 'FILE' })

type Files = Awaited<ReturnType<typeof readPageFiles>>

/** Throws a failure if this installation lacks them. */
export async function builtPage(name: 'claim-page' | 'passport-page' | 'raise-page'): Promise<Files> {
  const files = await readPageFiles(name).catch((): Files => new Map())
  if (files.has('index.html')) return files
  throw failure(`the files of the ${name.replace('-', ' ')} are missing from this installation`, {
    next: 'install it again; in a clone run `npm run build`',
  })
}

/** Visitors of a page without nodes of its own ask the public one. */
export const nodeNotes = (cluster: string, rpc: readonly string[] | undefined): string[] =>
  cluster === 'mainnet' && (rpc ?? []).length === 0
    ? ['the page asks the public node of mainnet, which limits visitors: give --rpc with a node of your own for pages']
    : []

/** The files of a page with an operator's settings. */
interface OperatorSite {
  files: Files
  settings: PageSettings
  logo: { name: string; bytes: Uint8Array } | null
}

/** Loaded when used, because the rules load zod. */
const settingsRules = () => import('../../src/claim-page/site/site-settings.ts')

/** Reads the operator's file; throws a usage problem with a line for each fault, which names its field. */
export async function operatorSite(
  page: 'claim-page' | 'raise-page',
  { config, rpc }: { config: string | undefined; rpc: string[] | undefined },
): Promise<OperatorSite> {
  // One file of settings serves both pages, and a raise's page has the texts of both.
  const files = await builtPage(page)
  const both = page === 'raise-page' ? files : await builtPage('raise-page')
  const { logoName, readPageSettings } = await settingsRules()
  const read = (content: string, name: string) => {
    const answer = readPageSettings(content, textsIn(both))
    if ('settings' in answer) return answer.settings
    const lines = answer.faults.map(({ field, message }) => `${name}: ${field === '' ? '' : `${field} `}${message}`)
    throw usage(lines[0] ?? `${name} cannot be used`, { lines, details: { faults: answer.faults } })
  }
  const given = config === undefined ? {} : read(Buffer.from(await readBytes(config)).toString('utf8'), config)
  const nodes = rpc === undefined ? {} : read(JSON.stringify({ rpc }), '--rpc')
  const settings = { ...given, ...nodes }
  if (config === undefined || settings.logo === undefined) return { files, settings, logo: null }
  const name = logoName(settings.logo)
  const bytes = await readBytes(resolve(config === '-' ? '.' : dirname(config), settings.logo))
  if (bytes.length > MOST_LOGO_BYTES) {
    throw usage(`${basename(settings.logo)} is larger than ${MOST_LOGO_BYTES / 1024} KiB: every visitor loads it`)
  }
  return { files, settings: { ...settings, logo: name }, logo: { name, bytes } }
}

/** Writes the page with the head that a link to it shows on other sites, its settings, and the logo. */
export async function putSite(
  put: PutFile,
  { files, settings, logo }: OperatorSite,
  head: Pick<PageHead, 'symbol' | 'keys'>,
): Promise<void> {
  const texts = textsIn(files, settings.language) ?? textsIn(files) ?? {}
  for (const [path, content] of files) {
    const isIndex = path === 'index.html'
    const index = () => withHead(content.toString('utf8'), { ...head, settings, texts, address: settings.url })
    await put(path, isIndex ? index() : content)
  }
  const { settingsText } = await settingsRules()
  await put('site.json', settingsText(settings))
  if (logo !== null) await put(logo.name, logo.bytes)
}

type Named = { name?: unknown; symbol?: unknown } | null | undefined

/** Name and symbol of a token from its metadata on chain, or from a metadata provider (DAS). */
export async function tokenShown(
  { tokens }: Session['client'],
  mint: string,
): Promise<{ name: string; symbol: string }> {
  const token = await nullIfNotFound(tokens.get({ mint }))
  const known = token?.data.raw as { metadata?: Named; content?: { metadata?: Named } | null } | null | undefined
  const { name, symbol } = known?.metadata ?? known?.content?.metadata ?? {}
  return tokenWords(mint, name, symbol)
}
