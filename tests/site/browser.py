# SPDX-License-Identifier: MIT
"""A headless Chromium for tests, with Python's standard library alone: the DevTools protocol over two pipes.

    with Browser() as browser:
        browser.open('file:///...', width=400, scheme='dark')
        browser.type('#query', 'EINVAL')
        browser.until('document.querySelector("#hits a")')
        browser.errors

`errors` collects what a page says on the console, exceptions, requests that fail or that leave the machine."""
import base64
import json
import os
import select
import signal
import subprocess
import tempfile
import time

PATIENCE = 60       # seconds for an answer: machines may be busy
LOCAL = ('file:', 'data:', 'about:', 'blob:', 'http://127.0.0.1:')
# Without the sandbox, which root and most containers cannot have: all pages are this tree's own.
FLAGS = ('--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --no-first-run --hide-scrollbars '
         '--disable-dev-shm-usage --disable-background-networking --disable-component-update --disable-sync').split()


class Browser:
    """One browser with one page."""

    def __enter__(self):
        self.number, self.session, self.rest, self.loaded, self.errors = 0, None, b'', False, []
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [os.environ.get('CHROMIUM', 'chromium'), *FLAGS, f'--user-data-dir={self.profile.name}']
        commands, self.to = os.pipe()
        self.back, answers = os.pipe()
        # The browser reads descriptor 3 and writes 4; bash moves ours there.
        move = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        self.process = subprocess.Popen(['bash', '-c', move, 'bash', *command, 'about:blank'],
                                        pass_fds=(commands, answers), start_new_session=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        page = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=page['targetId'], flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(f'{domain}.enable')
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.profile.cleanup()

    def message(self):
        """The next message; those that tell of something wrong are remembered."""
        while b'\0' not in self.rest:
            if not select.select([self.back], [], [], PATIENCE)[0]:
                raise TimeoutError('the browser does not answer')
            data = os.read(self.back, 1 << 20)
            if not data:
                raise EOFError('the browser has ended')
            self.rest += data
        one, self.rest = self.rest.split(b'\0', 1)
        message = json.loads(one)
        self.note(message.get('method'), message.get('params', {}))
        return message

    def note(self, method, told):
        """Keeps what an event says."""
        if method == 'Page.loadEventFired':
            self.loaded = True
        elif method == 'Runtime.exceptionThrown':
            details = told['exceptionDetails']
            self.errors.append('exception: ' + details.get('exception', {}).get('description', details['text']))
        elif method == 'Runtime.consoleAPICalled':
            self.errors.append('console: ' + ' '.join(str(a.get('value', a.get('description'))) for a in told['args']))
        elif method == 'Log.entryAdded':
            self.errors.append(f'{told["entry"]["source"]}: {told["entry"]["text"]} {told["entry"].get("url", "")}')
        elif method == 'Network.loadingFailed' and not told.get('canceled'):
            self.errors.append(f'a request failed: {told["errorText"]}')
        elif method == 'Network.requestWillBeSent' and not told['request']['url'].startswith(LOCAL):
            self.errors.append(f'a request leaves the machine: {told["request"]["url"]}')

    def call(self, method, **params):
        """One command of the protocol, and its answer."""
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        answer = self.message()
        while answer.get('id') != self.number:
            answer = self.message()
        if 'error' in answer:
            raise RuntimeError(f'{method}: {answer["error"]}')
        return answer.get('result', {})

    def open(self, url, width=1400, height=900, scheme='light'):
        """Loads a page in a window of this size, for a person who likes it light or dark."""
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.loaded = False
        another = 'loaderId' in self.call('Page.navigate', url=url)     # not so where only the part after # differs
        while another and not self.loaded:
            self.message()

    def eval(self, script):
        """The value of an expression in the page."""
        result = self.call('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'].get('exception', {}).get('description', result))
        return result['result'].get('value')

    def until(self, script, seconds=PATIENCE):
        """Waits until an expression is true, or something goes wrong; returns whether it became true."""
        end = time.monotonic() + seconds
        while not self.eval(f'!!({script})'):
            if time.monotonic() > end or self.errors:
                return False
            time.sleep(.02)
        return True

    def type(self, where, text):
        """Types into an emptied field, key by key."""
        field = f'document.querySelector({json.dumps(where)})'
        self.eval(f'{field}.value = ""; {field}.focus()')
        for letter in text:
            self.call('Input.dispatchKeyEvent', type='keyDown', text=letter, key=letter)
            self.call('Input.dispatchKeyEvent', type='keyUp', key=letter)

    def press(self, key):
        """One key by its name, such as Enter."""
        code = {'Enter': 13, 'Escape': 27, 'ArrowDown': 40, 'ArrowUp': 38, 'Tab': 9, '/': 191, ' ': 32}[key]
        text = {'Enter': {'text': '\r'}, '/': {'text': '/'}, ' ': {'text': ' '}}.get(key, {})
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, windowsVirtualKeyCode=code, **text)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key, windowsVirtualKeyCode=code)

    def click(self, where):
        """Clicks at the middle of an element."""
        x, y = self.eval(f'(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({json.dumps(where)})'
                         '.getBoundingClientRect())')
        for what in 'mousePressed', 'mouseReleased':
            self.call('Input.dispatchMouseEvent', type=what, x=x, y=y, button='left', clickCount=1)

    def screenshot(self, path):
        """What the window shows, as a PNG file."""
        path.write_bytes(base64.b64decode(self.call('Page.captureScreenshot')['data']))
