/** What a reader chose, kept by the browser where it keeps anything: the colours, and the language of the samples. */

const THEMES = ['auto', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const SIGNS: Readonly<Record<Theme, string>> = { auto: '◐', light: '☀', dark: '☾' }

function kept(name: string): string | null {
  try {
    return localStorage.getItem(`svc-reference-${name}`)
  } catch {
    return null
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`svc-reference-${name}`, value)
  } catch {
    // A browser that keeps nothing shows the page as it is at first.
  }
}

const isTheme = (value: string | null): value is Theme => THEMES.some((theme) => theme === value)

function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'auto') delete dataset.theme
  else dataset.theme = theme
}

/** Applies what was chosen before; called before anything is drawn, so that no other colours flash. */
export function applyChoices(): void {
  const theme = kept('theme')
  if (isTheme(theme)) applyTheme(theme)
  document.documentElement.dataset.language = kept('language') ?? 'curl'
}

/** The button names the colours in use, and a press chooses the next ones. */
export function offerThemes(button: HTMLButtonElement): void {
  const was = kept('theme')
  let theme: Theme = isTheme(was) ? was : 'auto'
  const name = () => {
    button.textContent = SIGNS[theme]
    button.title = `Colours: ${theme}`
    button.ariaLabel = button.title
  }
  name()
  button.hidden = false
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto'
    applyTheme(theme)
    keep('theme', theme)
    name()
  })
}

/** Shows all samples in one language, or, where an operation has none in it, in its first. */
export function chooseLanguage(language: string): void {
  document.documentElement.dataset.language = language
  for (const samples of document.querySelectorAll('.samples')) {
    const buttons = [...samples.querySelectorAll<HTMLButtonElement>('[data-language]')]
    const shown = buttons.find((button) => button.dataset.language === language) ?? buttons[0]
    for (const button of buttons) button.setAttribute('aria-pressed', String(button === shown))
    for (const sample of samples.querySelectorAll<HTMLElement>('[data-sample]'))
      sample.hidden = sample.dataset.sample !== shown?.dataset.language
  }
}

/** Follows the buttons of all samples: one chooses the language of the page, one copies the sample in sight. */
export function followSamples(): void {
  chooseLanguage(document.documentElement.dataset.language ?? 'curl')
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    if (button === null) return
    const { language } = button.dataset
    if (language !== undefined) {
      // What is above may become higher or lower; the pressed button stays where it is.
      const top = button.getBoundingClientRect().top
      chooseLanguage(language)
      scrollBy(0, button.getBoundingClientRect().top - top)
      keep('language', language)
    } else if (button.classList.contains('copy')) void copySample(button)
  })
}

async function copySample(button: HTMLButtonElement): Promise<void> {
  const sample = button.closest('.samples')?.querySelector<HTMLElement>('[data-sample]:not([hidden])')
  try {
    await navigator.clipboard.writeText(sample?.textContent ?? '')
    button.textContent = 'Copied'
  } catch {
    // Without HTTPS a browser offers no clipboard: the sample is selected, to be copied by hand.
    if (sample) getSelection()?.selectAllChildren(sample)
    button.textContent = 'Selected'
  }
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
}
