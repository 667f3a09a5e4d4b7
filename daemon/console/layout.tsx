/** The frame of every page of the console: head, navigation, main part; and the pages of errors and of signing in. */
import type { Child } from 'hono/jsx'
import { VERSION } from '../../src/platform/version.ts'
import type { BrowserSession } from './browser-session.ts'
import { clean } from './values.tsx'
import { linkTo, rootFrom } from './view.ts'

/** Paths of the style and the scripts, with hashes of their content. */
export interface Assets {
  style: string
  script: string
  chart: string
}

export interface Place {
  path: string
  title: string
}

interface LayoutProps {
  path: string
  title: string
  assets: Assets
  /** Allows this page's scripts and style. */
  nonce: string
  nav?: readonly Place[]
  session?: BrowserSession | null
  /** Parts whose changes make the page read itself again. */
  live?: readonly string[]
  children?: Child
}

/** A whole document. */
export function Layout({ path, title, assets, nonce, nav = [], session = null, live = [], children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <base href={rootFrom(path)} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${clean(title)} · svc`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={assets.style} nonce={nonce} />
        <script src={assets.script} nonce={nonce} defer />
        <script src={assets.chart} nonce={nonce} defer type="module" />
      </head>
      <body data-parts={live.join(' ')}>
        <a class="skip" href={`${linkTo(path)}#main`}>
          Skip to the content
        </a>
        <header>
          <strong>svc {VERSION}</strong>
          {session !== null && <SignedIn session={session} />}
        </header>
        <div class="columns">
          {nav.length > 0 && <Navigation nav={nav} path={path} />}
          <main id="main" tabindex={-1}>
            <h1>{clean(title)}</h1>
            {children}
          </main>
        </div>
      </body>
    </html>
  )
}

const Navigation = ({ nav, path }: { nav: readonly Place[]; path: string }) => (
  <nav class="places" aria-label="Console">
    <ul>
      {nav.map((place) => (
        <li>
          <a href={linkTo(place.path)} aria-current={isIn(place.path, path) ? 'page' : undefined}>
            {place.title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/** Links among the pages of one place, above their content. */
export const Siblings = ({ places, path }: { places: readonly Place[]; path: string }) => (
  <nav class="pages" aria-label="Pages of this place">
    {places.map((place) => (
      <a href={linkTo(place.path)} aria-current={place.path === path ? 'page' : undefined}>
        {place.title}
      </a>
    ))}
  </nav>
)

const isIn = (place: string, path: string) => path === place || (place !== '/console' && path.startsWith(`${place}/`))

const SignedIn = ({ session }: { session: BrowserSession }) => (
  <form method="post" action={linkTo('/console/sign-out')}>
    <span>
      {session.role}, {clean(session.key.name)}
    </span>
    <input type="hidden" name="csrf" value={session.csrf} />
    <button type="submit">Sign out</button>
  </form>
)

/** The one page for what went wrong. */
export const Fault = ({ message, next }: { message: string; next?: string | undefined }) => (
  <>
    <p role="alert">{clean(message)}</p>
    {next !== undefined && <p>{next}</p>}
    <p>
      <a href={linkTo('/console')}>Back to the console</a>
    </p>
  </>
)

/** Opens the session of a link. A form, because programs that preview links would use it up. */
export const EnterPage = ({ link }: { link: string }) => (
  <form method="post" action={linkTo('/console/enter')}>
    <p>This link opens the console in this browser, for 12 hours.</p>
    <input type="hidden" name="link" value={link} />
    <button type="submit">Open the console</button>
  </form>
)

/** For browsers without a session; with `canUseKey` an API key signs in. */
export const SignInPage = ({ canUseKey }: { canUseKey: boolean }) => (
  <>
    <p>
      Run <code>svc console</code> where this service is operated: it prints a link that opens the console.
    </p>
    {canUseKey ? (
      <form method="post" action={linkTo('/console/sign-in')} class="filters">
        <div>
          <label for="key">API key</label>
          <input id="key" name="key" type="password" autocomplete="off" required />
        </div>
        <button type="submit">Sign in</button>
      </form>
    ) : (
      <p>
        API keys sign in here once the setting <code>console</code> is on (SVC_CONSOLE=true).
      </p>
    )}
  </>
)
