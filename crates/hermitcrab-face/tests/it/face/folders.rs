//! Folders that the person picks in the browser.

use test_support::browser;

use super::home::Home;

/// A folder of the browser's own takes the place of one that the person picks: the same kind of handle.
const PICKED: &str = "
    window.told = null;
    import('/assets/folders.js').then(async ({ Folders }) => {
      const own = await navigator.storage.getDirectory();
      const write = async (path, text) => {
        const names = path.split('/');
        let folder = own;
        for (const name of names.slice(0, -1)) folder = await folder.getDirectoryHandle(name, { create: true });
        const file = await (await folder.getFileHandle(names.at(-1), { create: true })).createWritable();
        await file.write(text);
        await file.close();
      };
      for (const path of ['home/notes/a.txt', 'home/crab/store.json', 'home/crab/servers.json', 'home/crab/keys.env',
        'home/crab/blocks/constitution.json', 'home/crab/blocks/keystone.json']) await write(path, '{}');
      const pick = async (...way) => {
        let folder = own;
        for (const name of way) folder = await folder.getDirectoryHandle(name);
        window.showDirectoryPicker = async () => folder;
        const folders = new Folders();
        const { root } = await folders.pick();
        return [folders, root];
      };
      const said = (work) => work.then(() => 'done', (fault) => fault.error ?? String(fault));
      const [folders, root] = await pick('home');
      window.told = [
        await said(folders.read(root, 'notes/a.txt')),
        await said(folders.read(root, 'crab/keys.env')),
        await said(folders.read(root, 'crab/servers.json')),
        await said(folders.read(root, 'crab/blocks/constitution.json')),
        await said(folders.write(root, 'crab/servers.json', '{}')),
        await said(folders.write(root, 'crab/blocks/constitution.json', '{}')),
        await said(folders.list(root, 'crab/blocks')),
        await said(folders.mkdir(root, 'crab/blocks/more')),
        await said(folders.remove(root, 'crab')),
        await said(folders.remove(root, 'notes')),
        await said(pick('home', 'crab')),
        await said(pick('home', 'crab', 'blocks')),
      ];
    }).catch((error) => { window.told = String(error); })";

#[test]
fn a_folder_with_the_records_of_a_companion_is_not_opened() {
    browser::run(async |browser| {
        let home = Home::with_script([]).await;
        browser.open(&home.url).await;
        browser.js(PICKED).await;
        let told = browser.wait_until("window.told").await;
        let mut expected = vec!["refused"; 12];
        expected[0] = "done";
        expected[9] = "done";
        assert_eq!(told, serde_json::json!(expected));
        home.close().await;
    });
}
