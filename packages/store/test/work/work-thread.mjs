// A thread that owns a database, as parts of the daemon have one.
import { openWorkDatabase, serveThread } from '@turnbuckle/store';

serveThread(async ({ file }) => {
  const database = await openWorkDatabase({
    file,
    part: 'test',
    steps: ['CREATE TABLE notes (text TEXT NOT NULL)'],
  });
  return {
    operations: {
      add: (text) => database.transaction(() => database.prepare('INSERT INTO notes VALUES (?)').run(text)),
      all: () => database.prepare('SELECT text FROM notes').all(),
      fail: () => {
        throw new Error('not today');
      },
    },
    close: () => database.close(),
  };
});
