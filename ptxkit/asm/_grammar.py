"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {
'VERSION': 'I', 'TARGET': 'J', 'ADDRESS_SIZE': 'K', 'FILE': 'L', 'LOC': 'M', 'PRAGMA': 'N', 'ALIAS': 'O',
'SECTION': 'P', 'ENTRY': 'Q', 'FUNC': 'R', 'CALLPROTOTYPE': 'S', 'TARGETS': 'T', 'ENTRY_FLAG': 'U',
'ENTRY_NUMBER': 'V', 'ENTRY_EXTENT': 'W', 'FUNC_FLAG': 'X', 'FUNC_NUMBER': 'Y', 'LINKAGE': 'Z',
'SPACE': 'a', 'TYPE': 'b', 'VECTOR': 'c', 'ALIGN': 'd', 'PTR': 'e', 'ATTRIBUTE': 'f', 'SINGLE': 'g',
'FLOAT': 'h', 'INTEGER': 'i', 'STRING': 'j', 'WARP_SZ': 'k', 'CALL': 'l', 'GENERIC': 'm',
'FUNCTION_NAME': 'n', 'SINK': 'o', 'INLINED_AT': 'p', 'QUALIFIED': 'q', 'DOTTED': 'r', 'NAME': 's',
'WORD': 't', '!=': 'A', '&&': 'B', '<<': 'C', '<=': 'D', '==': 'E', '>=': 'F', '>>': 'G', '||': 'H',
'!': '!', '%': '%', '&': '&', '(': '(', ')': ')', '*': '*', '+': '+', ',': ',', '-': '-', '/': '/',
':': ':', ';': ';', '<': '<', '=': '=', '>': '>', '?': '?', '@': '@', '[': '[', ']': ']', '^': '^',
'{': '{', '|': '|', '}': '}', '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {
'.version': 'I', '.target': 'J', '.address_size': 'K', '.file': 'L', '.loc': 'M', '.pragma': 'N',
'.alias': 'O', '.section': 'P', '.entry': 'Q', '.func': 'R', '.callprototype': 'S', '.branchtargets': 'T',
'.calltargets': 'T', '.explicitcluster': 'U', '.blocksareclusters': 'U', '.maxnreg': 'V',
'.minnctapersm': 'V', '.maxnctapersm': 'V', '.maxclusterrank': 'V', '.maxntid': 'W', '.reqntid': 'W',
'.reqnctapercluster': 'W', '.noreturn': 'X', '.abi_preserve': 'Y', '.abi_preserve_control': 'Y',
'.extern': 'Z', '.visible': 'Z', '.weak': 'Z', '.common': 'Z', '.reg': 'a', '.const': 'a', '.global': 'a',
'.local': 'a', '.param': 'a', '.shared': 'a', '.tex': 'a', '.b8': 'b', '.b16': 'b', '.b32': 'b',
'.b64': 'b', '.b128': 'b', '.s8': 'b', '.s16': 'b', '.s32': 'b', '.s64': 'b', '.u8': 'b', '.u16': 'b',
'.u32': 'b', '.u64': 'b', '.f16': 'b', '.f16x2': 'b', '.f32': 'b', '.f64': 'b', '.bf16': 'b',
'.bf16x2': 'b', '.tf32': 'b', '.s16x2': 'b', '.u16x2': 'b', '.pred': 'b', '.texref': 'b',
'.samplerref': 'b', '.surfref': 'b', '.v2': 'c', '.v4': 'c', '.v8': 'c', '.align': 'd', '.ptr': 'e',
'.attribute': 'f', 'WARP_SZ': 'k', 'generic': 'm', 'function_name': 'n', '_': 'o', 'inlined_at': 'p'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone
# child stands for it) and the length. Alternatives are numbered from the first line on.
RULES = """\
___opcode_star_13 -:2 -:1
__address_star_15 -:3 -:3 -:2 -:2
__attributes_star_8 -:3 -:2
__declarator_star_9 -:2 -:1
__function_header_star_2 -:2 -:1
__function_header_star_3 -:2 -:1
__initializer_star_10 -:3 -:2
__instruction_star_12 -:3 -:2
__parameter_star_5 -:2 -:1
__parameters_star_4 -:3 -:2
__pragma_star_1 -:3 -:2
__section_line_star_11 -:3 -:2
__statement_star_6 -:3 -:2
__target_star_0 -:3 -:2
__variable_star_7 -:3 -:2
__vector_star_14 -:3 -:2
_index -:1 -:1
_inlined -:8
_modifier -:1 -:1 -:1 -:1 -:1
_name -:1 -:1 -:1 -:1
_opcode -:2 -:1 -:2 -:1 -:2 -:1
_section_type -:1 -:1
_specifier -:1 -:1 -:1 -:1
address address:5 address:4 address:4 address:3
alignment alignment:2
arguments arguments:4 arguments:3 arguments:2
attribute attribute:6 attribute:1
attributes attributes:5 attributes:4
base base?:1 base?:1 offset:3 offset:3
bit_and bit_and?:1 binary:3
bit_or bit_or?:1 binary:3
bit_xor bit_xor?:1 binary:3
body body:3
call call:11 call:9 call:9 call:7 call:9 call:7 call:7 call:5 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:9 call:7 call:7 call:5 call:7 call:5 call:5 call:3
close close:1
conditional conditional?:1 conditional:5
constant constant?:1 constant?:1
count count:3 count:3
debug_name name:1 name:1
debug_symbol debug_symbol?:1 binary:3
declarator declarator:4 declarator:2 declarator:5 declarator:3 declarator:6 declarator:4 declarator:5 declarator:3 declarator:4 declarator:2 declarator:5 declarator:3 declarator:4 declarator:2 declarator:3 declarator:1
dimension dimension:3 dimension:3
element element?:1 field:3
end end:1
entry_directive entry_directive?:1 directive:6 directive:4 directive:2 directive:1 directive:2
equality equality?:1 binary:3 binary:3
expression expression?:1
func_directive directive:1 directive:2
function function:2 function:2
function_header function_header:3 function_header:4 function_header:3 function_header:2 function_header:3 function_header:4 function_header:3 function_header:2 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:6 function_header:7 function_header:6 function_header:5 function_header:5 function_header:6 function_header:5 function_header:4
generic generic:4
guard guard:2 guard:3
initial_value initial_value?:1 initial_value?:1 initial_value?:1 binary:3 binary:3 mask:4
initializer initializer?:1 vector:4 vector:3 vector:2
instruction instruction:4 instruction:3 instruction:2 instruction:5 instruction:4 instruction:3
item item?:1 item?:1 item?:1 item?:1 item?:1 directive:2 directive:5 directive:7 directive:5 directive:3 directive:2 linked_variable:2
items items:2 items:0
label label:2
label_name name:1
logical_and logical_and?:1 binary:3
logical_or logical_or?:1 binary:3
masked masked?:1 masked?:1 masked?:1 binary:3 binary:3
module module:1
name name:2 name:1 name:1
open open:1
operand operand?:1 operand?:1 operand?:1 element:4 pair:3 pair:3
parameter parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:3 parameter:3 parameter:2 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:4 parameter:4 parameter:3
parameters parameters:4 parameters:3 parameters:2
plain_name name:1
pointer pointer:2 pointer:3 pointer:2 pointer:1
pragma directive:4 directive:3
primary float:1 integer:1 name:1 parenthesized:3
product product?:1 binary:3 binary:3 binary:3
relation relation?:1 binary:3 binary:3 binary:3 binary:3
section section:3
section_header section_header:3
section_integer integer:1 unary:2
section_line section_line?:1 difference:4 directive:2 directive:3 directive:2
section_lines section_lines:2 section_lines:0
section_literal integer:1
shift shift?:1 binary:3 binary:3
single float:1 parenthesized:3
statement statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 call_prototype:5 call_prototype:6 call_prototype:5 call_prototype:4 call_prototype:4 call_prototype:5 call_prototype:4 call_prototype:3 directive:5 directive:4 directive:4 directive:3 inner_prototype:4 inner_prototype:5 inner_prototype:4 inner_prototype:3 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:6 inner_prototype:7 inner_prototype:6 inner_prototype:5
statements statements:2 statements:0
sum sum?:1 binary:3 binary:3
target directive:3 directive:2
target_label target_label:2 target_label:1
unary unary?:1 cast:4 unary:2 unary:2 unary:2 unary:2
unsized unsized:2
value value?:1 value?:1 binary:3 unary:2 unary:2
variable variable:5 variable:4 variable:3 variable:4 variable:3 variable:2
vector vector:4 vector:3"""

# A state a line: kinds, and for each the next state, or -1 - the alternative to reduce; then
# rules, each with the next state.
STATES = """\
$KOdfQLRZNPaJbcI -232  items:1 module:2
$KOdfQLRZNPaJbcI -244 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17  __parameter_star_5:18 _specifier:19 alignment:20 attributes:21 function:22 function_header:23 item:24 pragma:25 section:26 section_header:27 target:28 variable:29

i 30
lmso 31 32 33 34  _name:35
i 36
( 37
lmso 31 32 33 34  _name:38
i 39
flm(so 6 31 32 40 33 34  _name:41 attributes:42 parameters:43
dfQRabc 5 6 44 45 13 15 16  __parameter_star_5:18 _specifier:19 alignment:20 attributes:21 variable:46
j 47
t 48
dfabc -57
lmso 31 32 33 34  _name:49
lms;o 31 32 33 50 34  _name:51 declarator:52
dfabc -58
h 53
dfabc 5 6 13 54 16  _specifier:55 alignment:20 attributes:21
dfabc -20
dfabc -55
dfabc -56
$KOdfQLRZNPaJbcI -219
{; 56 57  body:58 end:59 open:60
$KOdfQLRZNPaJbcI -231
$KOdfQLRZNPaJbcI -220
$KOdfQLRZNPaJbcI -221
lms}obt -312  section_lines:61
$KOdfQLRZNPaJbcI -222
$KOdfQLRZNPaJbcI -223
$KOdfQLRZNPaJbcI -224
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -43
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -44
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -45
$KOd@flS:,rQWUV=LRXYm{<ZM([-s+Nq})]P;oaJTb|cIt -46
, 62
dflmseoabc -63
t 63  attribute:64
WUV{(N; 65 66 67 -163 40 11 -163  __function_header_star_2:68 entry_directive:69 parameters:70 pragma:71
j 72
df)abc 5 6 73 13 74 16  __parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:76
XY{(; 77 78 -167 40 -167  __function_header_star_3:79 func_directive:80 parameters:81
lm(so 31 32 40 33 34  _name:82 parameters:83
lmso 31 32 33 34  _name:84
lmso 31 32 33 34  _name:85
flm(so 6 31 32 40 33 34  _name:86 attributes:87 parameters:88
$KOdfQLRZNPaJbcI -230
,; 89 90  __pragma_star_1:91
{ 92
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -360 -360 -360 -360 -360 -360 -360 -360 93 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360 -360  __target_star_0:94
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -380
,=<[; -140 95 96 97 -140  __declarator_star_9:98 count:99 dimension:100 unsized:101
,; 102 103  __variable_star_7:104
$KOdfQLRZNPaJbcI -229
lms;o 31 32 33 105 34  _name:51 declarator:106
dfabc -19
d@flSrRm{ZMsNq}oaJTbc -248
$KOdfQLRZNPaJbcI -145
$KOdfQLRZNPaJbcI -158
$KOdfQLRZNPaJbcI -159
d@flSrRm{ZMsNq}oaJTbc -355  statements:107
lms}obt 31 32 33 108 34 109 110  _name:111 _section_type:112 close:113 label:114 section_line:115
lmso 31 32 33 34  _name:116
,() -68 117 -68
,) 118 119  __attributes_star_8:120
i 121
WUV{N; -150
i 122
WUV{N; 65 66 67 -160 11 -160  entry_directive:123 pragma:71
WUV{N; -12
WUV{N; 65 66 67 -162 11 -162  __function_header_star_2:124 entry_directive:69 pragma:71
WUV{N; -146
$KOdf,QLRZNPaJbcI -228 -228 -228 -228 -228 125 -228 -228 -228 -228 -228 -228 -228 -228 -228 -228 -228
lWUVXYm{sN;o -281
dlmseo 5 31 32 33 126 34  _name:127 alignment:128 pointer:129
dfabc 5 6 13 130 16  _specifier:55 alignment:20 attributes:21
,) 131 132  __parameters_star_4:133
XY{; -156
i 134
XY{; 77 78 -164 -164  func_directive:135
XY{; -14
XY{; 77 78 -166 -166  __function_header_star_3:136 func_directive:80
XY{(; 77 78 -171 40 -171  __function_header_star_3:137 func_directive:80 parameters:138
lmso 31 32 33 34  _name:139
XY{(; 77 78 -179 40 -179  __function_header_star_3:140 func_directive:80 parameters:141
WUV{(N; 65 66 67 -183 40 11 -183  __function_header_star_2:142 entry_directive:69 parameters:143 pragma:71
XY{(; 77 78 -187 40 -187  __function_header_star_3:144 func_directive:80 parameters:145
lm(so 31 32 40 33 34  _name:146 parameters:147
lmso 31 32 33 34  _name:148
j 149
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -288
,; 150 151
lms}obt -303
lmso 31 32 33 34  _name:152
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -359 -359 -359 -359 -359 -359 -359 -359 153 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359 -359
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:176 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
ik 187 188
i]k 189 190 191
,=[; -126 192 193 -126  dimension:194
,=[; -134 195 97 -134  __declarator_star_9:196 dimension:100 unsized:197
,=[; -10
,=[; -138 198 193 -138  __declarator_star_9:199 dimension:100
lmso 31 32 33 34  _name:51 declarator:200
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -379
,; 201 202
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -377
,; 102 203  __variable_star_7:204
d@flSrRm{ZMsNq}oaJTbc 5 205 6 206 207 208 209 32 56 210 211 212 11 213 108 34 13 14 214 15 16  __parameter_star_5:18 _name:111 _opcode:215 _specifier:19 alignment:20 attributes:21 body:216 call:217 close:218 guard:219 instruction:220 label:221 open:60 pragma:222 statement:223 target:224 variable:225
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -114
lmi-sot -53
lmi-sot -54
: 226
lmi-sot 31 32 227 228 33 34 229  _name:230 debug_name:231 debug_symbol:232 label_name:233 section_integer:234
$KOdfQLRZNPaJbcI -302
lms}obt -306
lms}obt -311
; 235
i 236
t 63  attribute:237
dflm(soabc -70
,) 238 239
,WUV{N; 240 -149 -149 -149 -149 -149 -149
WUV{N; -151
WUV{N; -11
WUV{N; 65 66 67 -161 11 -161  entry_directive:123 pragma:71
i 241
dlmsoa 5 -286 -286 -286 -286 242  alignment:243
,[) -269 97 -269  dimension:244 unsized:245
lmseo 31 32 33 126 34  _name:246 pointer:247
lmso 31 32 33 34  _name:248
dlmseo 5 31 32 33 126 34  _name:249 alignment:250 pointer:251
dfabc 5 6 13 74 16  __parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:252
lWUVXYm{sN;o -280
,) 253 254
XY{; -157
XY{; -13
XY{; 77 78 -165 -165  func_directive:135
XY{; 77 78 -168 -168  func_directive:135
XY{; 77 78 -170 -170  __function_header_star_3:255 func_directive:80
XY{(; 77 78 -175 40 -175  __function_header_star_3:256 func_directive:80 parameters:257
XY{; 77 78 -176 -176  func_directive:135
XY{; 77 78 -178 -178  __function_header_star_3:258 func_directive:80
WUV{N; 65 66 67 -180 11 -180  entry_directive:123 pragma:71
WUV{N; 65 66 67 -182 11 -182  __function_header_star_2:259 entry_directive:69 pragma:71
XY{; 77 78 -184 -184  func_directive:135
XY{; 77 78 -186 -186  __function_header_star_3:260 func_directive:80
XY{(; 77 78 -191 40 -191  __function_header_star_3:261 func_directive:80 parameters:262
lmso 31 32 33 34  _name:263
XY{(; 77 78 -199 40 -199  __function_header_star_3:264 func_directive:80 parameters:265
,; -24
j 266
$KOd@flSrQWUVLRm{ZMsNq}P;oaJTbcI -287
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -30
lmso 31 32 33 34  _name:267
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:270
&^:,<->%+?})];/*|HBEADFCG -289
,=(+});t -44 -44 271 -44 -44 -44 -44 -44
&^,<(->%+?};/*|HBEADFCG -290 -290 -290 -290 272 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290 -290
!lhmi{(-s+q}go~k 154 31 155 156 157 158 159 160 33 161 162 273 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:274 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
!hi(-+g~bk 154 155 268 159 160 161 163 164 277 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:278 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 single:279 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:280
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:281
,=[+})];| -247
,}); -317
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:282
&^:,<->%+?})];/*|HBEADFCG -291
,=[+})];|t -246 -246 -246 -246 -246 -246 -246 -246 -246 283
&^:,?})];|HB 284 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79 -79
:,?})];|HB -235 -235 -235 -235 -235 -235 -235 285 -235 -235
^:,?})];|HB 286 -77 -77 -77 -77 -77 -77 -77 -77 -77 -77
:,})]; -155
,}; -203
&^:,?})];|HBEA -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 -75 287 288
,}); -117
,+}; -204 289 -204 -204
,}; -209
,; -139
:,?})];HB -237 -237 -237 -237 -237 -237 -237 -237 290
:,?})];H -115 -115 291 -115 -115 -115 -115 292
,+}; -205 293 -205 -205
&^:,<->%+?})];/*|HBEADFCG -363
&^:,<->%+?})];/*|HBEADFCG -356 -356 -356 -356 -356 -356 -356 294 -356 -356 -356 -356 -356 -356 295 296 -356 -356 -356 -356 -356 -356 -356 -356 -356
&^:,<>?})];|HBEADF -152 -152 -152 -152 297 298 -152 -152 -152 -152 -152 -152 -152 -152 -152 -152 299 300
&^:,<>?})];|HBEADFCG -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 -297 301 302
,}); -118
&^:,<->+?})];|HBEADFCG -314 -314 -314 -314 -314 303 -314 304 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314 -314
&^:,<->%+?})];/*|HBEADFCG -293
> 305
> 306
] 307
,=[); -369
] 308
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:309 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
ik 189 191
,=[; -9
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:310 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,=[; -128 311 193 -128  dimension:194
,=[; -132 312 193 -132  __declarator_star_9:313 dimension:100
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:314 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,=[; -136 315 193 -136  dimension:194
,; -32
lmso 31 32 33 34  _name:51 declarator:316
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -378
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -376
,; 201 317
!lmso 318 31 32 33 34  _name:319
l:mZ(sqoabct 31 -43 32 320 321 33 162 34 322 323 324 325  ___opcode_star_13:326 _modifier:327 _name:166 arguments:328 name:329
(o 40 330  parameters:331
!lhmi{Z([-s+q;goa~bckt -48 -48 -48 -48 -48 -48 320 -48 -48 -48 -48 -48 -48 -48 -48 -48 322 -48 323 324 -48 325  ___opcode_star_13:332 _modifier:327
lm(so 31 32 40 33 34  _name:333 parameters:334
R 335
i 336
!l:hmi{Z([-s+q;goa~bckt -50 -50 -45 -50 -50 -50 -50 320 -50 -50 -50 -50 -50 -50 -50 -50 -50 322 -50 323 324 -50 325  ___opcode_star_13:337 _modifier:327
!lhmi{Z([-s+q;goa~bckt -52 -52 -52 -52 -52 -52 320 -52 -52 -52 -52 -52 -52 -52 -52 -52 322 -52 323 324 -52 325  ___opcode_star_13:338 _modifier:327
lmso 31 32 33 34  _name:339 target_label:340
!lhmi{([-s+q;go~k 341 31 155 32 268 342 159 343 344 33 161 162 345 163 34 164 165  _name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:349 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351
d@flSrRm{ZMsNq}oaJTbc -319
d@flSrRm{ZMsNq}oaJTbc -320
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -81
lrsq 352 208 353 213  _opcode:354
d@flSrRm{ZMsNq}oaJTbc -321
d@flSrRm{ZMsNq}oaJTbc -322
d@flSrRm{ZMsNq}oaJTbc -323
d@flSrRm{ZMsNq}oaJTbc -354
d@flSrRm{ZMsNq}oaJTbc -324
d@flSrRm{ZMsNq}oaJTbc -325
d@flSrRm{ZMsNq}oaJTbct -233
l,ms}obt -304
i 355  section_literal:356
l,ms+}obt -122
lm-s+}obt -121 -121 -234 -121 -121 -121 -121 -121 -121
l,ms+}obt -123 -123 -123 -123 357 -123 -123 -123 -123
lms}obt -308
- 358
l,ms}obt -310 359 -310 -310 -310 -310 -310 -310  __section_line_star_11:360
$KOdfQLRZNPaJbcI -225
, 361
,) -8
t 63  attribute:362
dflm(soabc -69
i 363
$KOdf,QLRZNPaJbcI -227 -227 -227 -227 -227 364 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227 -227
dlmso 5 -285 -285 -285 -285  alignment:365
lmso -283
,) -267
,) -268
,[) -272 97 -272  dimension:366 unsized:367
lmso 31 32 33 34  _name:368
,[) -278 97 -278  dimension:369 unsized:370
,[) -257 97 -257  dimension:371 unsized:372
lmseo 31 32 33 126 34  _name:373 pointer:374
lmso 31 32 33 34  _name:375
,) -22
dfabc 5 6 13 74 16  __parameter_star_5:75 _specifier:19 alignment:20 attributes:21 parameter:376
lWUVXYm{sN;o -279
XY{; 77 78 -169 -169  func_directive:135
XY{; 77 78 -172 -172  func_directive:135
XY{; 77 78 -174 -174  __function_header_star_3:377 func_directive:80
XY{; 77 78 -177 -177  func_directive:135
WUV{N; 65 66 67 -181 11 -181  entry_directive:123 pragma:71
XY{; 77 78 -185 -185  func_directive:135
XY{; 77 78 -188 -188  func_directive:135
XY{; 77 78 -190 -190  __function_header_star_3:378 func_directive:80
XY{(; 77 78 -195 40 -195  __function_header_star_3:379 func_directive:80 parameters:380
XY{; 77 78 -196 -196  func_directive:135
XY{; 77 78 -198 -198  __function_header_star_3:381 func_directive:80
,; -23
$KOd@flS,rQLRm{ZMsNq}PoaJTbcI -29
&^:,<->%+?})];/*|HBEADFCG -290
!hi(-+~bk 154 155 268 269 160 161 164 277 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:278 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
&^:,<->%+?})];/*|HBEADFCG -365
lmsqo 31 32 33 162 34  _name:166 name:382
!lhmi(-s+qo~k 154 31 155 156 268 269 160 33 161 162 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:383 generic:384 logical_and:177 logical_or:178 masked:385 name:386 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
,}; -212
,} 387 388  __initializer_star_10:389
,} -143
,=+} -205 390 293 -205
) 391
) 392
) 393
&^:,<->%+?})];/*|HBEADFCG -366
&^:,<->%+?})];/*|HBEADFCG -367
&^:,<->%+?})];/*|HBEADFCG -368
,=[+})];| -245
!hi(-+~k 154 155 268 269 160 161 164 165  equality:394 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_xor:395 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:396 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 relation:397 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 relation:398 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:399 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:400 bit_xor:169 equality:172 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:401 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 equality:172 logical_and:402 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:403 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:404
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:405
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:406
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 shift:407 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 shift:408 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 shift:409 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 shift:410 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 sum:411 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:181 sum:412 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:413 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 product:414 unary:186
,=[; -119
,=[; -120
,=[); -141
,=[); -142
,; -125
,; -133
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:415 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:416 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,=[; -130 417 193 -130  dimension:194
,; -137
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:418 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,; -31
$KOd@flSrQLRm{ZMsNq}PoaJTbcI -375
lmso 31 32 33 34  _name:419
lrsq -201
!lhmi{Z([-s+q;goa~bckt -38
!lhmi{([-s+q)go~k 341 31 155 32 268 342 159 343 344 33 161 162 420 163 34 164 165  _name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:421 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351
!lhmi{Z([-s+q;goa~bckt -39
!lhmi{Z([-s+q;goa~bckt -40
!lhmi{Z([-s+q;goa~bckt -41
!lhmi{Z([-s+q;goa~bckt -42
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325  _modifier:422 _name:166 arguments:423 name:424
!lhmi{Z([-s+q;goa~bckt -2
, 425
,; 426 427
XY(; 77 78 40 428  __function_header_star_3:429 func_directive:80 parameters:430
o 431
!lhmi{Z([-s+q;goa~bckt -47 -47 -47 -47 -47 -47 320 -47 -47 -47 -47 -47 -47 -47 -47 -47 322 -47 323 324 -47 325  _modifier:422
XY(; 77 78 40 432  __function_header_star_3:433 func_directive:80 parameters:434
lmso 31 32 33 34  _name:435
lm(so 31 32 40 33 34  _name:436 parameters:437
i 438
!lhmi{Z([-s+q;goa~bckt -49 -49 -49 -49 -49 -49 320 -49 -49 -49 -49 -49 -49 -49 -49 -49 322 -49 323 324 -49 325  _modifier:422
!lhmi{Z([-s+q;goa~bckt -51 -51 -51 -51 -51 -51 320 -51 -51 -51 -51 -51 -51 -51 -51 -51 322 -51 323 324 -51 325  _modifier:422
,<; -362 96 -362  count:439
,; 440 441  __statement_star_6:442
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165  _name:166 name:443 primary:180 unary:270
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:445
!lhmi(-s+o~k 154 31 155 32 268 269 160 33 161 34 164 165  _name:446 base:447 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:448 logical_and:177 logical_or:178 plain_name:449 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165  _name:166 name:450 primary:180 unary:280
d@flSrRm{ZMsNq}oaJTbc -215
,); -249
,}); -370
,[+);| -371 451 452 -371 -371 453
,; 454 455  __instruction_star_12:456
,); -250
,);| -251 -251 -251 457
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325  ___opcode_star_13:458 _modifier:327 _name:166 arguments:459 name:460
!lhmi{Z([-s+q;goa~bckt -50 -50 -50 -50 -50 -50 320 -50 -50 -50 -50 -50 -50 -50 -50 -50 322 -50 323 324 -50 325  ___opcode_star_13:337 _modifier:327
!lhmi{([-s+q;go~k 341 31 155 32 268 342 159 343 344 33 161 162 461 163 34 164 165  _name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:462 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351
l,ms}obt -313
l,ms}obt -305
i- 227 228  section_integer:463
lmso 31 32 33 34  _name:464 label_name:465
i- 227 228  section_integer:466
l,ms}obt -309 467 -309 -309 -309 -309 -309 -309
i 468
,) -7
,WUV{N; 469 -148 -148 -148 -148 -148 -148
i 470
lmso -284
,) -270
,) -271
,[) -275 97 -275  dimension:471 unsized:472
,) -276
,) -277
,) -255
,) -256
,[) -260 97 -260  dimension:473 unsized:474
lmso 31 32 33 34  _name:475
,[) -266 97 -266  dimension:476 unsized:477
,) -21
XY{; 77 78 -173 -173  func_directive:135
XY{; 77 78 -189 -189  func_directive:135
XY{; 77 78 -192 -192  func_directive:135
XY{; 77 78 -194 -194  __function_header_star_3:478 func_directive:80
XY{; 77 78 -197 -197  func_directive:135
) 479
) -239
+) 480 -240
) 481
+) 482 -241
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:483 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,}; -211
,} 484 485
!lhmi(-s+qgo~k 154 31 155 156 157 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:486 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  primary:180 unary:487
&^:,<->%+?})];/*|HBEADFCG -292
,}); -318
&^:,?})];|HBEA -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 -76 287 288
^:,?})];|HB 286 -78 -78 -78 -78 -78 -78 -78 -78 -78 -78
&^:,?})];|HB 284 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80
&^:,<>?})];|HBEADF -153 -153 -153 -153 297 298 -153 -153 -153 -153 -153 -153 -153 -153 -153 -153 299 300
&^:,<>?})];|HBEADF -154 -154 -154 -154 297 298 -154 -154 -154 -154 -154 -154 -154 -154 -154 -154 299 300
,}; -206
:,?})];|HB -236 -236 -236 -236 -236 -236 -236 285 -236 -236
: 488
:,?})];HB -238 -238 -238 -238 -238 -238 -238 -238 290
,}; -207
&^:,<->%+?})];/*|HBEADFCG -294
&^:,<->%+?})];/*|HBEADFCG -295
&^:,<->%+?})];/*|HBEADFCG -296
&^:,<>?})];|HBEADFCG -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 301 302
&^:,<>?})];|HBEADFCG -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 -299 301 302
&^:,<>?})];|HBEADFCG -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 -300 301 302
&^:,<>?})];|HBEADFCG -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 -301 301 302
&^:,<->+?})];|HBEADFCG -315 -315 -315 -315 -315 303 -315 304 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315 -315
&^:,<->+?})];|HBEADFCG -316 -316 -316 -316 -316 303 -316 304 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316 -316
&^:,<->%+?})];/*|HBEADFCG -357 -357 -357 -357 -357 -357 -357 294 -357 -357 -357 -357 -357 -357 295 296 -357 -357 -357 -357 -357 -357 -357 -357 -357
&^:,<->%+?})];/*|HBEADFCG -358 -358 -358 -358 -358 -358 -358 294 -358 -358 -358 -358 -358 -358 295 296 -358 -358 -358 -358 -358 -358 -358 -358 -358
,; -127
,; -131
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 equality:172 expression:173 generic:174 initial_value:175 initializer:489 logical_and:177 logical_or:178 name:179 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,; -135
lrsq -202
,; -66
,) 454 490  __instruction_star_12:491
!lhmi{Z([-s+q;goa~bckt -1
, 492
,; 493 494
lmsqo 31 32 33 162 34  _name:166 name:495
lm(sqo 31 32 321 33 162 34  _name:166 arguments:496 name:497
d@flSrRm{ZMsNq}oaJTbc -113
d@flSrRm{ZMsNq}oaJTbc -333
XY; 77 78 498  func_directive:135
XY; 77 78 499  __function_header_star_3:500 func_directive:80
XY(; 77 78 40 501  __function_header_star_3:502 func_directive:80 parameters:503
d@flSrRm{ZMsNq}oaJTbc -341
XY; 77 78 504  func_directive:135
XY; 77 78 505  __function_header_star_3:506 func_directive:80
XY(; 77 78 40 507  __function_header_star_3:508 func_directive:80 parameters:509
XY(; 77 78 40 510  __function_header_star_3:511 func_directive:80 parameters:512
lmso 31 32 33 34  _name:513
i 514
,; -361
lmso 31 32 33 34  _name:339 target_label:515
d@flSrRm{ZMsNq}oaJTbc -337
,; 516 517
,}); -373
,+} -371 452 -371
,} 518 519  __vector_star_14:520
,-+] -282
,] 521 522  __address_star_15:523
,] -71
,-+] -72 524 525 -72
,}); -374
!lhmi(-s+qo~k 154 31 155 32 268 269 160 33 161 162 34 164 165  _index:526 _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:527 logical_and:177 logical_or:178 name:528 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:529 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
lmsqo 31 32 33 162 34  _name:166 name:530
!lhmi{([-s+qgo~k 341 31 155 32 268 342 159 343 344 33 161 162 163 34 164 165  _name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:531 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351
d@flSrRm{ZMsNq}oaJTbc -214
,; 532 533
lmsqo 31 32 33 162 34  _name:166 name:534
lmZ(sqoabct 31 32 320 321 33 162 34 322 323 324 325  _modifier:422 _name:166 arguments:535 name:536
, 537
,; 538 539
d@flSrRm{ZMsNq}oaJTbc -218
,; 454 540  __instruction_star_12:541
l,ms}obt -124
lms}obt -234
lms}obt -307
l,ms}obt -26
i- 227 228  section_integer:542
) 543
i 544
$KOdfQLRZNPaJbcI -226
,) -273
,) -274
,) -258
,) -259
,[) -263 97 -263  dimension:545 unsized:546
,) -264
,) -265
XY{; 77 78 -193 -193  func_directive:135
,+}); -200
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:547 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
,}; -208
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:548 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
,} -16
!lhmi{(-s+qgo~k 154 31 155 156 157 158 159 160 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:171 element:549 equality:172 expression:173 generic:174 initial_value:175 initializer:275 logical_and:177 logical_or:178 name:276 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186
,}; -210
,} -144
&^:,<->%+?})];/*|HBEADFCG -364
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:550 equality:172 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
,; -129
,; -65
,) 532 551
lmsqo 31 32 33 162 34  _name:166 name:552
lm(sqo 31 32 321 33 162 34  _name:166 arguments:553 name:554
d@flSrRm{ZMsNq}oaJTbc -105
,; 555 556
,; 557 558
; 559
d@flSrRm{ZMsNq}oaJTbc -330
d@flSrRm{ZMsNq}oaJTbc -332
XY; 77 78 560  func_directive:135
d@flSrRm{ZMsNq}oaJTbc -329
XY; 77 78 561  func_directive:135
XY; 77 78 562  __function_header_star_3:563 func_directive:80
d@flSrRm{ZMsNq}oaJTbc -338
d@flSrRm{ZMsNq}oaJTbc -340
XY; 77 78 564  func_directive:135
d@flSrRm{ZMsNq}oaJTbc -345
XY; 77 78 565  func_directive:135
XY; 77 78 566  __function_header_star_3:567 func_directive:80
d@flSrRm{ZMsNq}oaJTbc -349
XY; 77 78 568  func_directive:135
XY; 77 78 569  __function_header_star_3:570 func_directive:80
XY(; 77 78 40 571  __function_header_star_3:572 func_directive:80 parameters:573
d@flS,rRm{ZMsNq}oaJTbc -335 -335 -335 -335 -335 574 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335 -335  _inlined:575
,; -28
lmso 31 32 33 34  _name:339 target_label:576
d@flSrRm{ZMsNq}oaJTbc -336
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:577
,)];| -382
,} 578 579
lm{sqo 31 32 342 33 162 34  _name:166 name:580 vector:581
,);t -62 -62 -62 582
,] 583 584
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:585 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
!hi(-+~k 154 155 268 269 160 161 164 165  bit_and:167 bit_or:168 bit_xor:169 conditional:170 equality:172 expression:586 logical_and:177 logical_or:178 primary:180 product:181 relation:182 shift:183 sum:185 unary:186
] 587
] -35
] -36
,}); -372
,); -253
,); -18
!lhmi{([-s+qgo~k 341 31 155 32 268 342 159 343 344 33 161 162 163 34 164 165  _name:166 address:346 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:348 operand:588 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:350 vector:351
d@flSrRm{ZMsNq}oaJTbc -213
,); -254
, 589
,; 590 591
lmsqo 31 32 33 162 34  _name:166 name:592
lm(sqo 31 32 321 33 162 34  _name:166 arguments:593 name:594
d@flSrRm{ZMsNq}oaJTbc -97
d@flSrRm{ZMsNq}oaJTbc -217
,; 532 595
l,ms}obt -25
,) -67
WUV{N; -147
,) -261
,) -262
) -242
) -243
,} -15
:,})]; -116
,; -64
,; 596 597
,; 598 599
; 600
lm(sqo 31 32 321 33 162 34  _name:166 arguments:601 name:602
d@flSrRm{ZMsNq}oaJTbc -109
lmsqo 31 32 33 162 34  _name:166 name:603
d@flSrRm{ZMsNq}oaJTbc -111
d@flSrRm{ZMsNq}oaJTbc -112
d@flSrRm{ZMsNq}oaJTbc -331
d@flSrRm{ZMsNq}oaJTbc -326
d@flSrRm{ZMsNq}oaJTbc -328
XY; 77 78 604  func_directive:135
d@flSrRm{ZMsNq}oaJTbc -339
d@flSrRm{ZMsNq}oaJTbc -342
d@flSrRm{ZMsNq}oaJTbc -344
XY; 77 78 605  func_directive:135
d@flSrRm{ZMsNq}oaJTbc -346
d@flSrRm{ZMsNq}oaJTbc -348
XY; 77 78 606  func_directive:135
d@flSrRm{ZMsNq}oaJTbc -353
XY; 77 78 607  func_directive:135
XY; 77 78 608  __function_header_star_3:609 func_directive:80
n 610
d@flSrRm{ZMsNq}oaJTbc -334
,; -27
,} -34
!lhmi(-s+qgo~k 341 31 155 32 268 159 344 33 161 162 163 34 164 165  _name:166 bit_and:167 bit_or:168 bit_xor:169 conditional:170 constant:347 equality:172 expression:173 logical_and:177 logical_or:178 name:444 primary:180 product:181 relation:182 shift:183 single:184 sum:185 unary:186 value:611
,)];| -381
,] -5
,] -6
,); -61
lm{sqo 31 32 342 33 162 34  _name:166 name:612 vector:613
,);t -60 -60 -60 614
,] -73
,] -74
,); -252
,); -17
lmsqo 31 32 33 162 34  _name:166 name:615
lm(sqo 31 32 321 33 162 34  _name:166 arguments:616 name:617
d@flSrRm{ZMsNq}oaJTbc -89
,; 618 619
,; 620 621
; 622
d@flSrRm{ZMsNq}oaJTbc -216
lm(sqo 31 32 321 33 162 34  _name:166 arguments:623 name:624
d@flSrRm{ZMsNq}oaJTbc -101
lmsqo 31 32 33 162 34  _name:166 name:625
d@flSrRm{ZMsNq}oaJTbc -103
d@flSrRm{ZMsNq}oaJTbc -104
,; 626 627
; 628
; 629
d@flSrRm{ZMsNq}oaJTbc -327
d@flSrRm{ZMsNq}oaJTbc -343
d@flSrRm{ZMsNq}oaJTbc -347
d@flSrRm{ZMsNq}oaJTbc -350
d@flSrRm{ZMsNq}oaJTbc -352
XY; 77 78 630  func_directive:135
lmsot 31 32 33 34 229  _name:631 debug_name:231 debug_symbol:632
,} -33
,] -3
,] -4
,); -59
,; 633 634
,; 635 636
; 637
lm(sqo 31 32 321 33 162 34  _name:166 arguments:638 name:639
d@flSrRm{ZMsNq}oaJTbc -93
lmsqo 31 32 33 162 34  _name:166 name:640
d@flSrRm{ZMsNq}oaJTbc -95
d@flSrRm{ZMsNq}oaJTbc -96
,; 641 642
; 643
; 644
lmsqo 31 32 33 162 34  _name:166 name:645
d@flSrRm{ZMsNq}oaJTbc -107
d@flSrRm{ZMsNq}oaJTbc -108
d@flSrRm{ZMsNq}oaJTbc -110
d@flSrRm{ZMsNq}oaJTbc -351
,+ -121
, 646
lm(sqo 31 32 321 33 162 34  _name:166 arguments:647 name:648
d@flSrRm{ZMsNq}oaJTbc -85
lmsqo 31 32 33 162 34  _name:166 name:649
d@flSrRm{ZMsNq}oaJTbc -87
d@flSrRm{ZMsNq}oaJTbc -88
,; 650 651
; 652
; 653
lmsqo 31 32 33 162 34  _name:166 name:654
d@flSrRm{ZMsNq}oaJTbc -99
d@flSrRm{ZMsNq}oaJTbc -100
d@flSrRm{ZMsNq}oaJTbc -102
; 655
p 656
,; 657 658
; 659
; 660
lmsqo 31 32 33 162 34  _name:166 name:661
d@flSrRm{ZMsNq}oaJTbc -91
d@flSrRm{ZMsNq}oaJTbc -92
d@flSrRm{ZMsNq}oaJTbc -94
; 662
d@flSrRm{ZMsNq}oaJTbc -106
i 663
lmsqo 31 32 33 162 34  _name:166 name:664
d@flSrRm{ZMsNq}oaJTbc -83
d@flSrRm{ZMsNq}oaJTbc -84
d@flSrRm{ZMsNq}oaJTbc -86
; 665
d@flSrRm{ZMsNq}oaJTbc -98
i 666
; 667
d@flSrRm{ZMsNq}oaJTbc -90
i 668
d@flSrRm{ZMsNq}oaJTbc -82
d@flSrRm{ZMsNq}oaJTbc -37"""
