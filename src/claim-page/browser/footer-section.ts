/** Draws the visitor's settings and the operator's links. */
import { button, byId, fill, make, outsideLink } from './elements.ts'
import type { PageSession } from './page-session.ts'
import { applyTheme, chosenExplorer, explorersOf, keepNode, ownNode, THEMES, type Theme } from './page-settings.ts'
import { remember } from './pending-claims.ts'
import { languagesOf, type PageTexts } from './texts.ts'

let isOpen = false
let saved = ''

interface Choice {
  value: string
  label: string
}

function select(id: string, label: string, choices: readonly Choice[], value: string, chosen: (value: string) => void) {
  const options = choices.map((choice) => {
    const option = make('option', { text: choice.label, attributes: { value: choice.value } })
    option.selected = choice.value === value
    return option
  })
  const input = make('select', { attributes: { id } }, options)
  input.addEventListener('change', () => chosen(input.value))
  return make('div', { class: 'field' }, [make('label', { text: label, attributes: { for: id } }), input])
}

export function drawFooter(session: PageSession, own: PageTexts, changeLanguage: (code: string) => void): void {
  const { texts, settings, subject } = session
  const focused = document.activeElement?.id
  const explorers = explorersOf(settings, subject, session.node.urls[0] ?? '')
  const languages = languagesOf(settings, own).map(({ code, name }) => ({ value: code, label: name }))
  const themes = THEMES.map((theme) => ({
    value: theme,
    label: texts.text(theme === 'auto' ? 'themeAuto' : theme === 'light' ? 'themeLight' : 'themeDark'),
  }))
  const details = make('details', { class: 'settings' }, [
    make('summary', { text: texts.text('settingsHeading') }),
    make('div', { class: 'fields' }, [
      languages.length > 1 &&
        select('language', texts.text('languageLabel'), languages, texts.language, changeLanguage),
      select('theme', texts.text('themeLabel'), themes, applyTheme(), (theme) => {
        remember('theme', theme)
        applyTheme(theme as Theme)
      }),
      explorers.length > 1 &&
        select(
          'explorer',
          texts.text('explorerLabel'),
          explorers.map(({ name }) => ({ value: name, label: name })),
          chosenExplorer(explorers)?.name ?? '',
          (name) => {
            remember('explorer', name)
            session.redraw()
          },
        ),
    ]),
    nodeForm(session),
  ])
  details.open = isOpen
  details.addEventListener('toggle', () => {
    isOpen = details.open
  })
  const links = settings.links.map(({ text, url }) => make('li', {}, [outsideLink(text, url)]))
  fill(byId('footer'), [details, links.length > 0 ? make('ul', { class: 'links' }, links) : null])
  if (focused && byId('footer').querySelector(`#${CSS.escape(focused)}`)) byId(focused).focus()
}

function nodeForm(session: PageSession): HTMLElement {
  const { texts, subject } = session
  const own = ownNode(subject)
  const input = make('input', {
    attributes: { id: 'node', type: 'url', autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'node-hint' },
  })
  input.value = own ?? session.node.urls[0] ?? ''
  const keep = (url: string | null) => {
    const isKept = keepNode(subject, url)
    saved = texts.text(isKept ? 'nodeSaved' : 'nodeInvalid')
    if (isKept) void session.changeNode()
    session.redraw()
  }
  const form = make('form', { class: 'field' }, [
    make('label', { text: texts.text('nodeLabel'), attributes: { for: 'node' } }),
    make('div', { class: 'row' }, [
      input,
      make('button', { text: texts.text('nodeSave'), attributes: { type: 'submit' } }),
    ]),
    make('p', { class: 'hint', text: texts.text('nodeHint'), attributes: { id: 'node-hint' } }),
    make('p', { class: 'hint', text: saved, attributes: { role: 'status' } }),
    own === null ? null : button(texts.text('nodeReset'), () => keep(null), 'plain'),
  ])
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    keep(input.value.trim())
  })
  return form
}
