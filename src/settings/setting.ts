/** The type of a setting, and patterns that several settings share. */

export type Kind = 'string' | 'integer' | 'boolean' | 'list' | 'endpoints' | 'receivers'

/** One of several RPC endpoints. */
export interface RpcEndpoint {
  /** It may contain a key, like the headers, and is never shown. */
  url: string
  /** Share of the requests, relative to the other endpoints. */
  weight: number
  headers: Readonly<Record<string, string>>
}

export interface Setting {
  kind: Kind
  default?: string | number | boolean | readonly string[]
  about: string
  /** Marks a secret that is never printed and that `svc config` refuses to write into a file. */
  secret?: true
  /** Accepts an http or https URL, or one of these words. */
  urlOr?: readonly string[]
  /** Marks a URL that may contain a key; only its host is printed. */
  private?: true
  /** The only allowed values. */
  choices?: readonly string[]
  /** Pattern of a text or of each list item; `about` is its description after "must be". */
  pattern?: { is: RegExp; about: string }
  min?: number
  max?: number
  /**
   * A path, which `svc config set` makes absolute; a file must be there and be readable. `file-or-name` is a name unless
   * it has a slash or ends in `.json`, or the URL of a device.
   */
  path?: 'file' | 'folder' | 'file-or-name'
  /**
   * True when a folder's svc.json may set it; otherwise the reason for the refusal. Any cloned repository can contain a
   * svc.json.
   */
  project: true | string
  /**
   * A running daemon uses the new value after SIGHUP: the value is read at each use, and nothing depends on the old
   * one.
   */
  reload?: true
  /** Reason why svc.json may use only the words of `urlOr` for this setting. */
  projectChoicesReason?: string
}

/** A name that becomes part of the path in a provider's URL. */
export const PATH_PART = { is: /^\w[\w.-]{0,127}$/, about: 'letters, digits, dots, dashes and underscores' }

/** A file's name; the content of a certificate or key, pasted by mistake, is rejected and never printed. */
export const FILE_PATH = { is: /^(?!.*-----BEGIN)[^\0\n]+$/s, about: 'the path of a file, never its content' }

/** Checks the shape of a table of settings, and keeps its exact type. */
export const define = <T extends Record<string, Setting>>(settings: T) => settings
