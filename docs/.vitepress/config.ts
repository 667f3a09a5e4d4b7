/** The documentation site: docs/*.md by VitePress, with its menus from docs/index.md. `npm run site` builds it into dist-site/. */
import { copyFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import { anchorOf } from '../../tools/anchors.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const DOCS = join(ROOT, 'docs')
/** The path below which the site is served, such as /svc/. */
const BASE = process.env.SVC_SITE_BASE ?? '/'

interface Section {
  text: string
  items: { text: string; link: string }[]
}

/** The sections of docs/index.md, with their pages. */
function sectionsOf(index: string): Section[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([\w-]+)\.md\)/gm)].map(([, text, page]) => ({
        text: text!,
        link: `/${page}`,
      })),
    }))
}

const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  repository?: { url: string }
}
const source = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')

/** What the site shows in place of a file outside of docs/: the file in the repository. */
const outside = (link: string) => (source === undefined ? '/index' : `${source}/blob/main/${link.slice('../'.length)}`)

/** A diagram whose colours are those of the page, drawn at build time. */
function diagram(text: string): string {
  const svg = renderMermaidSVG(text, { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', padding: 8 })
  // A component has no styles of its own, and the style of the library would ask another host for a font.
  const [, width] = /width="([\d.]+)"/.exec(svg) ?? []
  return `<div class="diagram" style="--drawn: ${width}px" v-pre>${svg.replace(/<style>[\s\S]*?<\/style>/, '')}</div>\n`
}

function markdown(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'comments', (state) => {
    state.src = state.src.replace(/<!--[\s\S]*?-->/g, '')
  })
  md.core.ruler.after('inline', 'links-outside', (state) => {
    for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
      const link = token.attrGet('href')
      if (token.type !== 'link_open') continue
      if (link?.startsWith('../')) token.attrSet('href', outside(link))
      // A link that is not downloaded gets the ending of a page.
      if (link?.startsWith('pictures/')) token.attrSet('download', '')
    }
  })
  const { code_inline: code, fence } = md.renderer.rules
  // Vue reads {{ }} everywhere else.
  md.renderer.rules.code_inline = (...args) => code!(...args).replace('<code', '<code v-pre')
  md.renderer.rules.fence = (tokens, index, ...rest) =>
    tokens[index]!.info.trim() === 'mermaid' ? diagram(tokens[index]!.content) : fence!(tokens, index, ...rest)
}

const sections = sectionsOf(readFileSync(join(DOCS, 'index.md'), 'utf8'))
/** The jobs of the root help, which the menu at the top holds together. */
const JOBS = ['Launch', 'Airdrop', 'Tokens', 'Money', 'Operate']
const isJob = ({ text }: Section) => JOBS.includes(text)
const [tutorial, ...others] = sections.filter((section) => !isJob(section))

export default defineConfig({
  title: 'svc',
  description: 'Token launches, airdrops and claim pages on Solana: one command line and a self-hosted API',
  base: BASE,
  outDir: join(ROOT, 'dist-site'),
  cacheDir: join(ROOT, 'node_modules/.cache/site'),
  head: [['link', { rel: 'icon', type: 'image/png', href: `${BASE}pictures/logo.png` }]],
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: `${BASE}${page}` }]],
  markdown: { html: false, config: markdown, anchor: { slugify: anchorOf } },
  themeConfig: {
    logo: '/pictures/logo.png',
    nav: [...(tutorial === undefined ? [] : [tutorial]), { text: 'How-to', items: sections.filter(isJob) }, ...others],
    sidebar: sections.map((section) => ({ ...section, collapsed: false })),
    outline: 'deep',
    search: { provider: 'local' },
    editLink: { pattern: `${BASE}:path`, text: 'This page as Markdown' },
  },
  vite: {
    plugins: [
      {
        // The search of another host, which the theme imports and nothing uses.
        name: 'no-hosted-search',
        enforce: 'pre',
        resolveId: (id) => (/VPAlgoliaSearchBox|^@docsearch\//.test(id) ? '\0nothing' : undefined),
        load: (id) => (id === '\0nothing' ? 'export default {}' : undefined),
      },
    ],
  },
  buildEnd({ outDir }) {
    for (const page of readdirSync(DOCS).filter((name) => name.endsWith('.md'))) {
      copyFileSync(join(DOCS, page), join(outDir, page))
    }
    cpSync(join(DOCS, 'pictures'), join(outDir, 'pictures'), { recursive: true })
    const index = readFileSync(join(DOCS, 'index.md'), 'utf8')
    writeFileSync(join(outDir, 'llms.txt'), index.replace(/^!\[.*\n\n/gm, ''))
  },
})
