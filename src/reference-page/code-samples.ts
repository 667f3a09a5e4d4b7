/** Shows `x-codeSamples` of an operation below its parameters, one language at a time. */
import type { Part, Plugin, System } from './swagger-ui.ts'

interface Sample {
  label: string
  source: string
}

/** The language that was chosen last; operations open with it from then on. */
let chosen = 'curl'

function samplesOf(operation: Part | undefined): Sample[] {
  const samples = operation?.get('x-codeSamples') as Part | undefined
  return (samples?.toJS() as Sample[] | undefined) ?? []
}

function Samples({ samples, system }: { samples: Sample[]; system: System }) {
  const { createElement: h, useState } = system.React
  const [label, setLabel] = useState(chosen)
  const shown = samples.find((sample) => sample.label === label) ?? samples[0]
  if (shown === undefined) return null
  const choose = (next: string) => {
    chosen = next
    setLabel(next)
  }
  const buttons = samples.map((sample) =>
    h(
      'button',
      {
        key: sample.label,
        type: 'button',
        className: 'btn',
        'aria-pressed': sample === shown,
        onClick: () => choose(sample.label),
      },
      sample.label,
    ),
  )
  const code = system.getComponent('HighlightCode', true)
  return h(
    'section',
    { className: 'code-samples', 'aria-label': 'Code samples' },
    h(
      'div',
      { className: 'opblock-section-header' },
      h('h4', null, 'Code samples'),
      h('div', { role: 'group', 'aria-label': 'Language' }, ...buttons),
    ),
    h(code, { language: shown.label === 'TypeScript' ? 'javascript' : 'bash', canCopy: true }, shown.source),
  )
}

export const codeSamples: Plugin = {
  wrapComponents: {
    parameters: (Original, system) => (props: { operation?: Part }) => {
      const { createElement: h, Fragment } = system.React
      const samples = samplesOf(props.operation)
      return h(Fragment, null, h(Original, { ...props }), h(Samples, { samples, system }))
    },
  },
}
