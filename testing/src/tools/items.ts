import type { FixturePrompt, FixtureResource, FixtureTool } from '../kernel/behaviour.js';
import { createTool, toText } from './tool.js';

const WATCHED = 'fixture://watched';

/** Three resources, a template, two prompts, and the tool that changes the watched resource. */
export interface FixtureItems {
  readonly resources: FixtureResource[];
  readonly templates: FixtureResource[];
  readonly prompts: FixturePrompt[];
  readonly touch: FixtureTool;
}

/** Creates the items with their own state. */
export function createFixtureItems(): FixtureItems {
  let touches = 0;
  return {
    resources: [
      createResource({ uri: 'fixture://greeting', name: 'greeting', mimeType: 'text/plain' }, () => ({
        text: 'hello',
      })),
      createResource({ uri: 'fixture://bytes', name: 'bytes', mimeType: 'application/octet-stream' }, () => ({
        blob: 'AAECAw==',
      })),
      createResource({ uri: WATCHED, name: 'watched', mimeType: 'text/plain' }, () => ({
        text: `touched ${touches}`,
      })),
    ],
    templates: [createTemplate()],
    prompts: createPrompts(),
    touch: createTool({ name: 'touch', description: `Changes ${WATCHED}` }, (_, { server }) => {
      touches += 1;
      server.updated(WATCHED);
      return toText(`touched ${touches}`);
    }),
  };
}

interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
}

function createResource(
  definition: ResourceDefinition,
  contents: () => { text?: string; blob?: string },
): FixtureResource {
  const { uri, mimeType } = definition;
  return {
    definition: { ...definition, _meta: { 'example.com/at': 'resource' } },
    read: (wanted) =>
      wanted === uri ? [{ uri, mimeType, ...contents(), _meta: { at: 'contents' } }] : undefined,
  };
}

function createTemplate(): FixtureResource {
  return {
    definition: { uriTemplate: 'fixture://items/{id}', name: 'item', mimeType: 'application/json' },
    read: (uri) => {
      const id = /^fixture:\/\/items\/([^/]+)$/.exec(uri)?.[1];
      return id === undefined
        ? undefined
        : [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }];
    },
  };
}

function createPrompts(): FixturePrompt[] {
  return [
    {
      definition: { name: 'simple', description: 'Takes nothing' },
      get: () => toPrompt('Say hello.'),
    },
    {
      definition: {
        name: 'greet',
        description: 'Greets somebody',
        arguments: [{ name: 'who', description: 'Whom', required: true }],
      },
      get: ({ who }) => toPrompt(`Greet ${String(who)}.`),
    },
  ];
}

function toPrompt(text: string) {
  return { description: 'As asked', messages: [{ role: 'user', content: { type: 'text', text } }] };
}
